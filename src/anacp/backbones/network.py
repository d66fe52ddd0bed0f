"""A frozen network with its pooling: arrays in, features out."""

import copy
import hashlib
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from anacp.backbones.presets import Pooling
from anacp.backbones.views import LAST_LAYER, PATCHES, Layer, Layers, LayerView
from anacp.errors import MismatchError

# Where transformers has its hooks from, and how it marks a network that has them.
RECORDING, HOOKED = "transformers.utils.output_capturing", "_output_capturing_hooks_installed"


class PooledNetwork(nn.Module):
    """Layers of a network, each pooled to one row per input and put side by side. This is what the engines run.

    Parameters
    ----------
    network : torch.nn.Module
        What has the layers.
    pooling : str
        How a layer becomes a row, the same for each.
    layers : tuple of int or "patches"
        Which layers, in this order, counted from the first (0) or the last (-1); "patches" is the mean over the patches
        of the last one.
    """

    def __init__(self, network: nn.Module, pooling: Pooling, layers: Layers = LAST_LAYER) -> None:
        super().__init__()
        self.network = network
        self.pooling = pooling
        self.layers = layers

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the hooks by which transformers records layers: they cannot be sent, and come back when needed."""
        weights = {id(tensor): tensor for tensor in (*self.network.parameters(), *self.network.buffers())}
        network = copy.deepcopy(self.network, weights)
        for module in network.modules():
            module.__dict__.pop(HOOKED, None)
            hooks = module._forward_hooks.items()
            for key in [key for key, hook in hooks if getattr(hook, "__module__", "") == RECORDING]:
                del module._forward_hooks[key]
        return {**self.__dict__, "_modules": {**self._modules, "network": network}}

    def forward(self, inputs: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Return features (n, d) of pixels (n, 3, h, w), or of token numbers (n, t) with their mask (n, t)."""
        if self.pooling == "mean over pixels and mirror image":
            return (self._features(inputs, None) + self._features(inputs.flip(3), None)) / 2
        return self._features(inputs, attention_mask)

    def _features(self, inputs: Tensor, attention_mask: Tensor | None) -> Tensor:
        if self.layers == LAST_LAYER:
            return self._pooled(self._last(inputs, attention_mask), attention_mask)
        states = self._states(inputs, attention_mask)
        return torch.cat([self._layer(states, layer, attention_mask) for layer in self.layers], 1)

    def widths(self, inputs: Tensor, attention_mask: Tensor | None = None) -> dict[Layer, int]:
        """Return how many numbers each layer gives, the first layer first, counted from the last."""
        states = self._states(inputs, attention_mask)
        found: dict[Layer, int] = {
            number - len(states): self._pooled(state, attention_mask).shape[1] for number, state in enumerate(states)
        }
        return found | ({PATCHES: states[-1].shape[-1]} if self.pooling == "class token" else {})

    def _layer(self, states: list[Tensor], layer: Layer, attention_mask: Tensor | None) -> Tensor:
        if isinstance(layer, int):
            return self._pooled(states[layer], attention_mask)
        config: Any = getattr(self.network, "config", None)
        return states[-1][:, 1 + getattr(config, "num_register_tokens", 0) :].mean(1)

    def _last(self, inputs: Tensor, attention_mask: Tensor | None) -> Tensor:
        network: Any = self.network
        if hasattr(network, "extract_features"):  # EfficientNet-Lite
            hidden: Tensor = network.extract_features(inputs)  # (n, d, h, w)
        else:
            hidden = self._output(inputs, attention_mask).last_hidden_state  # (n, t, d) or (n, d, h, w)
        return hidden

    def _states(self, inputs: Tensor, attention_mask: Tensor | None) -> list[Tensor]:
        """Return what each layer gives, in one pass; the last one is as `_last` has it, behind a closing norm."""
        if hasattr(self.network, "_blocks"):
            return _efficientnet_states(self.network, inputs)
        if hasattr(self.network, "extract_features"):
            return [self._last(inputs, attention_mask)]
        output = self._output(inputs, attention_mask, output_hidden_states=True)
        if not getattr(output, "hidden_states", None):
            raise MismatchError(
                f"Expected a network that shows its layers, got {type(self.network).__name__}. Use its last layer."
            )
        return [*output.hidden_states[1:-1], output.last_hidden_state]  # the first are embeddings, before any layer

    def _output(self, inputs: Tensor, attention_mask: Tensor | None, **options: bool) -> Any:
        if attention_mask is None:
            return self.network(pixel_values=inputs, **options)
        return self.network(input_ids=inputs, attention_mask=attention_mask, **options)

    def _pooled(self, hidden: Tensor, attention_mask: Tensor | None) -> Tensor:
        if attention_mask is not None:
            weights = attention_mask[:, :, None].to(hidden.dtype)
            return (hidden * weights).sum(1) / weights.sum(1)
        if self.pooling.startswith("mean over pixels"):
            return hidden.mean((2, 3))
        return hidden[:, 0] if self.pooling == "class token" else hidden.mean(1)


class ViewedNetwork(nn.Module):
    """Some layers of all that a network computes, as features: what an export runs."""

    def __init__(self, pooled: PooledNetwork, view: LayerView) -> None:
        super().__init__()
        self.pooled = pooled
        self.view = view

    def forward(self, inputs: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Return features (n, d)."""
        return torch.cat(self.view.parts(self.pooled(inputs, attention_mask)), 1)


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


def _efficientnet_states(network: Any, inputs: Tensor) -> list[Tensor]:
    """Return what each block gives, then what `extract_features` does, which has no way to show the blocks."""
    hidden = network._swish(network._bn0(network._conv_stem(inputs)))
    states = [hidden := block(hidden) for block in network._blocks]
    return [*states, network._swish(network._bn1(network._conv_head(hidden)))]
