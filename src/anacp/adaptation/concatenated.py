"""Two backbones of one kind side by side: frozen and adapted features together, on which NCM is APER."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from anacp.backbones import Backbone
from anacp.errors import MismatchError

__all__ = ["concatenated"]


class SideBySide(nn.Module):
    """Two networks on the same input. Pooling acts on each feature alone, so it may come after joining."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, **inputs: Any) -> SimpleNamespace:
        """Return both last hidden states, joined along the features."""
        hidden = [network(**inputs).last_hidden_state for network in (self.first, self.second)]
        return SimpleNamespace(last_hidden_state=torch.cat(hidden, -1))


def concatenated(frozen: Backbone, adapted: Backbone) -> Backbone:
    """Return one backbone with the features of both, the frozen ones first.

    `anacp.NCM` on its features is APER (Zhou et al. 2024).
    """
    if frozen.preset != adapted.preset or adapted.adaptation is None:
        raise MismatchError(
            f"Expected a backbone and the same one adapted, got {frozen.preset.name!r} and {adapted.preset.name!r}"
            f"{' without adaptation' if adapted.adaptation is None else ''}. Give `adaptation.apply(frozen)`."
        )
    network = SideBySide(frozen.module(), adapted.module())
    return frozen.with_module(network, f"beside {adapted.adaptation}", n_features=2 * frozen.n_features)
