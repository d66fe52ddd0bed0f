"""Prompts reach the attention as equations say, whatever the transformer calls its parts."""

import pytest
import torch
from torch import Tensor, nn

from anacp.errors import MismatchError
from anacp.methods.trained.prompted_network import PromptedNetwork, Prompts
from tests.adaptation.models import examples

pytest.importorskip("transformers")

KINDS = ["bert", "vit", "dinov2"]


def prompted(encoder, **options):
    """A network that takes prompts, a batch in which texts differ in length, and its features without prompts."""
    items, _ = examples(encoder.modality, n=6)
    arrays = encoder.reader.read(items)
    inputs = [torch.from_numpy(array) for array in arrays.values()]
    network = PromptedNetwork(encoder.module(), encoder.preset.pooling, **options)
    return network, inputs, torch.from_numpy(encoder.encode(items))


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("kind", KINDS)
def test_no_prompts_change_nothing(transformer, kind: str) -> None:
    network, inputs, frozen = prompted(transformer(kind))
    nothing = normal(1, 0, 24)
    for prompts in (Prompts(), Prompts(nothing), Prompts(prefixes={0: (nothing, nothing), 1: (nothing, nothing)})):
        torch.testing.assert_close(network(prompts, *inputs), frozen, atol=1e-5, rtol=0)
    assert not any(parameter.requires_grad for parameter in network.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_prefixes_are_keys_and_values_of_the_attention(transformer, kind: str) -> None:
    network, inputs, frozen = prompted(transformer(kind))
    attention = network._attentions[1]
    seen: dict[str, Tensor] = {}

    def look(_: nn.Module, positional: tuple, named: dict, output) -> None:
        seen["hidden"] = positional[0] if positional else named["hidden_states"]
        seen["output"] = output[0]

    attention.register_forward_hook(look, with_kwargs=True)
    keys, values = normal(6, 3, 24), normal(6, 3, 24, seed=1)
    changed = network(Prompts(prefixes={1: (keys, values)}), *inputs)
    assert (changed - frozen).abs().max() > 0.01
    names = ("query", "key", "value") if kind == "bert" else ("q_proj", "k_proj", "v_proj")
    q, k, v = (getattr(attention, name)(seen["hidden"]) for name in names)
    padding = inputs[1] == 0 if kind == "bert" else torch.zeros(k.shape[:2], dtype=torch.bool)
    expected = torch.empty_like(q)
    for row in range(6):
        own = ~padding[row]
        for head in (slice(0, 12), slice(12, 24)):
            all_keys = torch.cat([keys[row, :, head], k[row, own][:, head]])
            all_values = torch.cat([values[row, :, head], v[row, own][:, head]])
            weights = torch.exp(q[row, :, head] @ all_keys.T / 12**0.5)
            expected[row, :, head] = weights @ all_values / weights.sum(1, keepdim=True)
    if hasattr(attention, "o_proj"):
        expected = attention.o_proj(expected)
    torch.testing.assert_close(seen["output"], expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(network(Prompts(), *inputs), frozen, atol=1e-5, rtol=0)  # nothing stays behind


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_go_through_all_blocks(transformer, kind: str) -> None:
    network, inputs, _ = prompted(transformer(kind), read_prompts=True)
    tokens = normal(6, 4, 24)
    read = network(Prompts(tokens), *inputs)
    inside = network.pooled.network
    blocks = next(module for module in inside.modules() if isinstance(module, nn.ModuleList))
    for row in range(6):  # alone, without padding, block by block
        own = [one[row : row + 1] for one in inputs]
        if kind == "bert":
            own = [one[:, : int(inputs[1][row].sum())] for one in own]
        hidden = torch.cat([tokens[row : row + 1], inside.embeddings(own[0])], 1)
        for block in blocks:
            output = block(hidden)
            hidden = output[0] if isinstance(output, tuple) else output
        hidden = hidden if kind == "bert" else inside.layernorm(hidden)
        torch.testing.assert_close(read[row], hidden[0, :4].mean(0), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_prompts_only(transformer, kind: str) -> None:
    network, inputs, _ = prompted(transformer(kind))
    tokens, keys, values = (normal(1, 2, 24, seed=seed).requires_grad_() for seed in range(3))
    network(Prompts(tokens, {0: (keys, values)}), *inputs).square().sum().backward()
    assert all(float(one.grad.abs().max()) > 0 for one in (tokens, keys, values))
    assert all(parameter.grad is None for parameter in network.parameters())


def test_other_networks_are_refused() -> None:
    with pytest.raises(MismatchError, match="Choose a transformer"):
        PromptedNetwork(nn.Sequential(nn.Linear(2, 2)), "class token")
