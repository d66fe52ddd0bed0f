"""Prompts inside a frozen transformer: more tokens at its input, or more keys and values in its attention.

Both come through transformers' own attention interface, so that one mechanism serves BERT, ViT, DINO-v2 and whatever
else computes its attention there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from anacp.backbones import PooledNetwork, Pooling, blocks_of
from anacp.errors import MismatchError

INTERFACE = "anacp-prefix"
KEYS = ("key", "k_proj", "k_lin")  # the projection to keys in BERT; in ViT, DINO-v2, CLIP; in DistilBERT


@dataclass(frozen=True, eq=False)
class Prompts:
    """What is given to the network besides its inputs, for each of n rows or one for all."""

    tokens: Tensor | None = None  # (n, p, d) before the first block
    prefixes: Mapping[int, tuple[Tensor, Tensor]] = field(default_factory=dict)  # block → keys and values (n, p, d)


class PromptedNetwork(nn.Module):
    """A frozen network that takes prompts.

    Parameters
    ----------
    network : torch.nn.Module
        A transformers encoder, yours to change; it takes no gradients any more.
    pooling : str
        As the backbone's.
    read_prompts : bool
        Whether the features are the mean over the prompt tokens, instead of the backbone's own pooling of its tokens.
    """

    def __init__(self, network: nn.Module, pooling: Pooling, *, read_prompts: bool = False) -> None:
        super().__init__()
        self.pooled = PooledNetwork(network, pooling).requires_grad_(False).eval()
        self.read_prompts = read_prompts
        self._attentions = [module for module in network.modules() if _is_attention(module)]
        self._tokens: Tensor | None = None
        self._read: Tensor | None = None
        with_attention = [
            block for block in blocks_of(network) if any(_is_attention(module) for module in block.modules())
        ]
        if not with_attention or not hasattr(network, "set_attn_implementation"):
            raise MismatchError(
                f"Expected a transformer whose attention transformers computes, such as ViT, DINO-v2 or BERT, got "
                f"{type(network).__name__}. Choose a transformer."
            )
        _register_interface()
        transformer: Any = network
        transformer.set_attn_implementation(INTERFACE)
        with_attention[0].register_forward_pre_hook(self._prepend, with_kwargs=True)
        network.register_forward_hook(self._take_out)

    @property
    def n_blocks(self) -> int:
        """How many blocks can take a prefix."""
        return len(self._attentions)

    def forward(self, prompts: Prompts, *inputs: Tensor) -> Tensor:
        """Return the features under these prompts."""  # (n, d)
        attentions: list[Any] = self._attentions
        try:
            self._tokens = prompts.tokens
            for block, prefix in prompts.prefixes.items():
                attentions[block].prefix = prefix
            features: Tensor = self.pooled(*inputs)
            return features if self._read is None else self._read
        finally:
            self._tokens = self._read = None
            for block in prompts.prefixes:
                del attentions[block].prefix

    def _prepend(self, _: nn.Module, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if self._tokens is None:
            return None
        hidden = positional[0] if positional else named["hidden_states"]
        joined = torch.cat([self._tokens.expand(len(hidden), -1, -1), hidden], 1)
        return ((joined, *positional[1:]), named) if positional else (positional, named | {"hidden_states": joined})

    def _take_out(self, _: nn.Module, __: Any, output: Any) -> Any:
        if self._tokens is not None:
            n_prompts = self._tokens.shape[1]
            if self.read_prompts:
                self._read = output.last_hidden_state[:, :n_prompts].mean(1)
            output.last_hidden_state = output.last_hidden_state[:, n_prompts:]
        return output


def _is_attention(module: nn.Module) -> bool:
    return any(isinstance(getattr(module, name, None), nn.Linear) for name in KEYS)


def _register_interface() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(INTERFACE, _attend)
    AttentionMaskInterface.register(INTERFACE, sdpa_mask)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attend to the prefix and to all tokens that are not padding; queries are (n, heads, t, d / heads)."""
    prefix = getattr(module, "prefix", None)
    if prefix is not None:
        n, heads, _tokens, width = key.shape
        keys, values = (
            part.expand(n, -1, -1).unflatten(2, (heads, width)).transpose(1, 2) for part in prefix
        )  # (n, heads, p, d / heads)
        key, value = torch.cat([keys, key], 2), torch.cat([values, value], 2)
    if attention_mask is not None:
        # In an encoder all queries see the same keys: one row is enough, also for queries that the mask knows nothing
        # of. What the mask does not know lies before the tokens, and is never padding.
        one_row = attention_mask[:, :, :1]
        attention_mask = F.pad(one_row, (key.shape[2] - one_row.shape[3], 0), value=True)
    attended = F.scaled_dot_product_attention(query, key, value, attn_mask=attention_mask, scale=scaling)
    return attended.transpose(1, 2).contiguous(), None
