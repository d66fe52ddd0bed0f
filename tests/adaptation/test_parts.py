"""What is inserted into a network: nothing changes at first, and then exactly what the formula says."""

import numpy as np
import pytest
import torch
from torch import nn

from anacp.adaptation import Parts, Recipe
from anacp.backbones import PooledNetwork, blocks_of
from anacp.errors import MismatchError, ModelFileError, UnavailableError
from tests.adaptation.models import KINDS, TINY, TINY_EVERYWHERE, TINY_LORA, examples
from tests.backbones.test_backbone import SmallNetwork

pytest.importorskip("transformers")


def arrays(encoder, n: int = 6) -> list[torch.Tensor]:
    items, _ = examples(encoder.modality, n)
    return [torch.from_numpy(array) for array in encoder.reader.read(items).values()]


@pytest.mark.parametrize("recipe", [TINY, TINY_LORA, TINY_EVERYWHERE], ids=lambda recipe: recipe.parts)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_changes_at_first_and_only_the_parts_take_gradients(transformer, kind: str, recipe: Recipe) -> None:
    encoder = transformer(kind)
    network = encoder.module()
    before = PooledNetwork(encoder.module(), encoder.preset.pooling).eval()(*arrays(encoder))
    state = torch.get_rng_state()
    parts = Parts.inside(network, recipe, seed=0)
    assert torch.equal(torch.get_rng_state(), state)
    pooled = PooledNetwork(network, encoder.preset.pooling).eval()
    after = pooled(*arrays(encoder))
    assert torch.equal(after, before)
    after.square().sum().backward()
    trained = {id(parameter) for parameter in parts.parameters.values()}
    assert {id(parameter) for parameter in network.parameters() if parameter.requires_grad} == trained
    assert all((parameter.grad is not None) == (id(parameter) in trained) for parameter in network.parameters())
    ups = [parameter for name, parameter in parts.parameters.items() if name.endswith("up")]
    blocks = blocks_of(encoder.module())
    n_linear = sum(isinstance(module, nn.Linear) for block in blocks for module in block.modules())
    assert n_linear >= 12
    assert len(ups) == {"adapters": 2, "lora": 4, "lora-everywhere": n_linear}[recipe.parts]  # in two blocks
    assert all(up.grad.abs().max() > 0 for up in ups)
    assert parts.parameters["0.down"].shape == (recipe.rank, 24)


def filled(network: nn.Module, recipe: Recipe) -> Parts:
    """Parts with an `up` that is not 0."""
    parts = Parts.inside(network, recipe, seed=1)
    generator = torch.Generator().manual_seed(0)
    parts.load_({name: torch.randn(tensor.shape, generator=generator) for name, tensor in parts.tensors().items()})
    return parts


@pytest.mark.parametrize("kind", ["vit", "bert"])
def test_an_adapter_is_parallel_to_the_mlp(transformer, kind: str) -> None:
    original, network = (transformer(kind).module().eval() for _ in range(2))
    tensors = filled(network, TINY).tensors()
    x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(1))
    for number, (plain, block) in enumerate(zip(blocks_of(original), blocks_of(network), strict=True)):
        low_rank = x @ tensors[f"{number}.down"].mT @ tensors[f"{number}.up"].mT
        if kind == "vit":
            torch.testing.assert_close(block.mlp(x), plain.mlp(x) + low_rank)
        else:
            mlp = plain.output.dense(plain.intermediate(x))
            torch.testing.assert_close(block.feed_forward_chunk(x), plain.output.LayerNorm(mlp + low_rank + x))


def test_lora_is_merged_into_query_and_value(transformer) -> None:
    encoder = transformer("bert")
    network = encoder.module()
    parts = filled(network, TINY_LORA)
    tensors, inputs = parts.tensors(), arrays(encoder)
    during = PooledNetwork(network, encoder.preset.pooling).eval()(*inputs)
    merged, original = parts.finished(), encoder.module()
    assert merged.state_dict().keys() == original.state_dict().keys()
    torch.testing.assert_close(PooledNetwork(merged, encoder.preset.pooling).eval()(*inputs), during)
    changed = {
        name: tensor - original.state_dict()[name]
        for name, tensor in merged.state_dict().items()
        if not torch.equal(tensor, original.state_dict()[name])
    }
    assert all(name.endswith(("query.weight", "value.weight")) for name in changed)
    first, second = (changed[f"encoder.layer.0.attention.self.{name}.weight"] for name in ("query", "value"))
    torch.testing.assert_close(first, tensors["0.up"] @ tensors["0.down"])
    torch.testing.assert_close(second, tensors["1.up"] @ tensors["1.down"])


@pytest.mark.parametrize("recipe", [TINY, TINY_LORA, TINY_EVERYWHERE], ids=lambda recipe: recipe.parts)
def test_other_networks_are_refused(recipe: Recipe) -> None:
    with pytest.raises(MismatchError, match=r"Expected a transformer .* got ModuleList\..* a transformer"):
        Parts.inside(nn.ModuleList([SmallNetwork()]), recipe, seed=0)  # blocks, but no transformer's


def test_foreign_weights_are_refused(transformer) -> None:
    parts = Parts.inside(transformer("vit").module(), TINY, seed=0)
    with pytest.raises(ModelFileError, match=r"got others for 1\.up"):
        parts.load_({name: tensor for name, tensor in parts.tensors().items() if name != "1.up"})


def test_without_peft_the_message_says_what_to_install(transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(UnavailableError, match=r"anacp\[adaptation\]"):
        Parts.inside(transformer("vit").module(), TINY_LORA, seed=0)


def test_first_weights_are_named(transformer) -> None:
    encoder = transformer("bert")
    one, same, other = (Parts.inside(encoder.module(), TINY, seed).tensors() for seed in (0, 0, 1))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["0.down"], other["0.down"])
    assert not torch.equal(one["0.down"], one["1.down"])
    bound = 24**-0.5
    assert one["0.down"].abs().max() <= bound
    np.testing.assert_allclose(one["0.down"].std(), bound / 3**0.5, rtol=0.15)
