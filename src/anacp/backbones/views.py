"""Layers of a network side by side: which of all that it computes, in which order, and whether scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

PATCHES = "patches"  # the mean over the patches of the last layer, where that has a class token as well
Layer = int | str
Layers = tuple[Layer, ...]
LAST_LAYER: Layers = (-1,)


@dataclass(frozen=True)
class LayerView:
    """The columns of some layers among those of all that are computed."""

    columns: tuple[tuple[int, int], ...]  # of each layer, from and to
    scaled: bool  # each to length one

    @classmethod
    def of(cls, layers: Sequence[Layer], computed: Sequence[Layer], widths: Mapping[Layer, int], scaled: bool) -> Self:
        """Return the view of layers among those computed, each as wide as stated."""
        ends = accumulate(widths[layer] for layer in computed)
        places = {layer: (end - widths[layer], end) for layer, end in zip(computed, ends, strict=True)}
        return cls(tuple(places[layer] for layer in layers), scaled)

    @classmethod
    def restored(cls, parts: Mapping[str, Any]) -> Self:
        """Return it from what `asdict` gave, after JSON."""
        return cls(tuple((int(start), int(end)) for start, end in parts["columns"]), bool(parts["scaled"]))

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        return sum(end - start for start, end in self.columns)

    def parts(self, computed: Any) -> list[Any]:
        """Return each layer of computed rows (n, all) or of one row, of NumPy or of torch."""
        found = [computed[..., start:end] for start, end in self.columns]
        return [_unit(part) for part in found] if self.scaled else found

    def __call__(self, computed: Any) -> Any:
        """Return the features of computed rows of NumPy."""
        import numpy as np  # not before it is needed: a header of a model file tells layers without it

        return np.concatenate(self.parts(computed), -1)


def _unit(part: Any) -> Any:
    length = (part * part).sum(-1, keepdims=True) ** 0.5
    return part / (length + (length == 0))
