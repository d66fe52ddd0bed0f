"""Features of chosen layers: as each layer has them, in one pass, in any engine."""

import numpy as np
import pytest
import torch

from anacp.backbones import Backbone, backbone
from anacp.errors import ParameterError
from tests.adaptation.models import KINDS, examples
from tests.backbones.models import needs_lite0, pictures
from tests.backbones.test_backbone import small

pytest.importorskip("transformers")


def items_for(loaded: Backbone) -> list:
    return examples(loaded.modality, 5)[0]


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_layers_side_by_side_are_each_alone_in_any_engine(transformer, kind: str) -> None:
    loaded = transformer(kind)
    items = items_for(loaded)
    first, last = loaded.with_layers([0]).encode(items), loaded.encode(items)
    both = loaded.with_layers([-1, 0])
    np.testing.assert_allclose(both.encode(items), np.hstack([unit(last), unit(first)]), atol=1e-6)
    np.testing.assert_array_equal(both.encode(items), np.vstack([both.encode([item]) for item in items]))
    np.testing.assert_array_equal(loaded.with_layers([-2]).encode(items), first)
    np.testing.assert_array_equal(loaded.with_layers([-1, 0], scaled=False).encode(items), np.hstack([last, first]))
    assert np.abs(first - last).max() > 1e-3
    exported = transformer(kind, "onnx").with_layers([0, -1])
    assert (loaded.engine, exported.engine) == ("torch", "onnx")
    np.testing.assert_allclose(exported.encode(items), np.hstack([unit(first), unit(last)]), atol=1e-4)
    np.testing.assert_array_equal(exported.encode(items)[::-1], exported.encode(items[::-1]))
    np.testing.assert_array_equal(exported.encode(items), np.vstack([exported.encode([item]) for item in items]))


def test_layers_have_names(transformer) -> None:
    loaded = transformer("vit")
    assert loaded.with_layers(["block 0", "last"]).fingerprint == loaded.with_layers([-2, -1]).fingerprint
    with pytest.raises(ParameterError, match="'block 0' to 'block 1'"):
        loaded.with_layers(["block 2"])


def test_patches_are_what_the_class_token_leaves_out(transformer) -> None:
    loaded = transformer("vit")
    items = items_for(loaded)
    with torch.inference_mode():
        pixels = torch.from_numpy(loaded.reader.read(items)["pixel_values"])
        hidden = loaded.module().eval()(pixel_values=pixels).last_hidden_state
    for engine in ("torch", "onnx"):
        made = transformer("vit", engine).with_layers(["patches"])
        np.testing.assert_allclose(made.encode(items), hidden[:, 1:].mean(1), atol=1e-4)
    assert loaded.choices == ((-1,), (-1, "patches"), (-2, -1, "patches"))
    with pytest.raises(ParameterError, match="Expected layers from -2 to 1, got"):
        transformer("bert").with_layers(["patches"])


def test_all_choices_share_one_network_and_its_rows(transformer) -> None:
    loaded = transformer("bert", "onnx")
    assert loaded.choices == ((-1,), (-2, -1))
    some, other = loaded.with_layers([-2, -1]), loaded.with_layers([-1, -2])
    assert some.whole is other.whole
    assert some.whole.fingerprint == loaded.with_layers([-2, -1], scaled=False).fingerprint != some.fingerprint
    arrays = some.reader.read(items_for(loaded)[:1])
    np.testing.assert_array_equal(some.view(other.compute(arrays)), some.run(arrays))
    # What is computed for a choice has the last layer to the bit, should that be chosen.
    np.testing.assert_array_equal(some.compute(arrays)[:, -loaded.n_features :], loaded.run(arrays))


def test_a_layer_is_the_last_of_a_shorter_network(transformer) -> None:
    loaded = transformer("bert")  # it has no norm behind its last block that a shorter one would apply earlier
    shorter = loaded.module()
    del shorter.encoder.layer[1]
    items = items_for(loaded)
    expected = loaded.with_module(shorter, "without its last block").encode(items)
    np.testing.assert_array_equal(loaded.with_layers([0]).encode(items), expected)


def test_all_layers_take_one_pass(transformer) -> None:
    loaded = transformer("vit")
    module, passes = loaded.module(), []
    module.embeddings.register_forward_hook(lambda *_: passes.append(1))
    both = loaded.with_module(module, "counted").with_layers([0, 1])
    both.run(both.reader.read(items_for(loaded)))  # the engine is made
    passes.clear()
    both.run(both.reader.read(items_for(loaded)))
    assert len(passes) == 1


def test_layers_are_part_of_the_fingerprint_unless_it_is_the_last(transformer) -> None:
    loaded = transformer("bert")
    chosen = [[0], [0, 1], [1, 0]]
    assert len({loaded.fingerprint, *(loaded.with_layers(layers).fingerprint for layers in chosen)}) == 4
    assert loaded.with_layers([1]).fingerprint == loaded.with_layers([-1]).fingerprint == loaded.fingerprint
    assert loaded.with_layers([0]).with_layers([-1]).fingerprint == loaded.fingerprint
    assert loaded.with_layers([0]).fingerprint == loaded.with_layers([-2]).fingerprint
    adapted = loaded.with_layers([0, 1]).with_module(loaded.module(), "nothing")
    assert (adapted.identity.layers, adapted.identity.scaled, adapted.n_features) == ((-2, -1), True, 48)
    assert (loaded.with_layers([0, 1]).n_features, loaded.with_layers([0, 1]).with_layers([0]).n_features) == (48, 24)


def test_layers_that_are_not_there_are_refused(transformer) -> None:
    for layers in ([2], [-3], []):
        with pytest.raises(ParameterError, match="Expected layers from -2 to 1"):
            transformer("vit").with_layers(layers)
    with pytest.raises(ParameterError, match="Expected layers from -1 to 0"):
        small().with_layers([-2])  # a network that shows only what comes out of it


@needs_lite0
def test_blocks_of_efficientnet() -> None:
    eager, exported = (backbone("efficientnet-lite0", engine=engine) for engine in ("torch", "onnx"))
    images, layers = pictures(2), [4, -2, -1]
    seen: list[torch.Tensor] = []
    network = eager.module().eval()
    for number in (4, 15):
        network._blocks[number].register_forward_hook(lambda _, __, output: seen.append(output.mean((2, 3))))
    with torch.inference_mode():
        pixels = torch.from_numpy(eager.reader.read(images)["pixel_values"])
        last = network.extract_features(pixels).mean((2, 3))
    expected = torch.cat([torch.nn.functional.normalize(layer) for layer in (*seen, last)], 1)
    np.testing.assert_allclose(eager.with_layers(layers).encode(images), expected, atol=1e-5)
    np.testing.assert_allclose(exported.with_layers(layers).encode(images), expected, atol=1e-4)
    arrays = exported.reader.read(images)
    computed = exported.with_layers([-2, -1]).compute(arrays)
    np.testing.assert_array_equal(computed[:, -1280:], exported.run(arrays))
