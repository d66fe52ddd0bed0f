"""A frozen network with its pooling: arrays in, features out."""

import hashlib
from typing import Any

import numpy as np
from torch import Tensor, nn

from anacp.backbones.presets import Pooling

__all__ = ["PooledNetwork", "blocks_of", "weights_hash"]


class PooledNetwork(nn.Module):
    """The network's last hidden state, pooled to one row per input. This is what the engines run."""

    def __init__(self, network: nn.Module, pooling: Pooling) -> None:
        super().__init__()
        self.network = network
        self.pooling = pooling

    def forward(self, inputs: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Return features (n, d) of pixels (n, 3, h, w), or of token numbers (n, t) with their mask (n, t)."""
        network: Any = self.network
        hidden: Tensor
        if attention_mask is not None:
            hidden = network(input_ids=inputs, attention_mask=attention_mask).last_hidden_state  # (n, t, d)
            weights = attention_mask[:, :, None].to(hidden.dtype)
            return (hidden * weights).sum(1) / weights.sum(1)
        if hasattr(network, "extract_features"):  # EfficientNet-Lite
            hidden = network.extract_features(inputs)
        else:
            hidden = network(pixel_values=inputs).last_hidden_state  # (n, t, d) or (n, d, h, w)
        if self.pooling == "mean over pixels":
            return hidden.mean((2, 3))
        return hidden[:, 0] if self.pooling == "class token" else hidden.mean(1)


def blocks_of(network: nn.Module) -> list[nn.Module]:
    """Return the blocks of a transformer in order: the members of its module lists."""
    return [block for holder in network.modules() if isinstance(holder, nn.ModuleList) for block in holder]


def weights_hash(network: nn.Module) -> str:
    """Return a hash of the floating-point weights, whatever they are called and however the file wraps them.

    Libraries rename parameters between versions; the features do not change with the names, so the hash must not.
    """
    digests = []
    for tensor in network.state_dict().values():
        if tensor.is_floating_point():
            content = tensor.detach().cpu().float().contiguous()
            digest = hashlib.blake2b(repr(tuple(content.shape)).encode(), digest_size=16)
            digest.update(content.reshape(-1).numpy().view(np.uint8))
            digests.append(digest.digest())
    return hashlib.blake2b(b"".join(sorted(digests)), digest_size=16).hexdigest()
