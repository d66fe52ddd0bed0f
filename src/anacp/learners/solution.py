"""What was solved from the statistics, as a value with a name for each part."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor

S = TypeVar("S", bound="Solution")


@dataclass(frozen=True, eq=False)
class Solution:
    """What a method computes its scores from. Its tensors are kept in model files, anything else is rebuilt.

    A tuple of tensors `heads` is kept as "head 0", "head 1", …
    """

    def __post_init__(self) -> None:
        # Laid out as a file would give them back: products differ in the last digit by how numbers lie in memory.
        for field in fields(self):
            object.__setattr__(self, field.name, _laid_out(getattr(self, field.name)))

    def tensors(self) -> dict[str, Tensor]:
        """Return what a model file keeps, by name."""
        kept: dict[str, Tensor] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            several = isinstance(value, tuple)
            named = {_numbered(field.name, i): part for i, part in enumerate(value)} if several else {field.name: value}
            kept |= {name: part for name, part in named.items() if isinstance(part, Tensor)}
        return kept

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor], **rebuilt: Any) -> Self:
        """Return the solution that was kept, with what is not."""
        values: dict[str, Any] = dict(rebuilt)
        for field in fields(cls):
            numbered = [name for i in range(len(tensors)) if (name := _numbered(field.name, i)) in tensors]
            if field.name in tensors:
                values[field.name] = tensors[field.name]
            elif numbered:
                values[field.name] = tuple(tensors[name] for name in numbered)
        return cls(**values)


@dataclass(frozen=True, eq=False)
class LinearWeights(Solution):
    """Scores x W + b."""

    weights: Tensor  # (d, c)
    biases: Tensor  # (c,)


@dataclass(frozen=True, eq=False)
class Solved(Generic[S]):
    """A solution, the parameters it was solved with, and how sharp its probabilities are once that is known."""

    solution: S
    parameters: Mapping[str, Any]
    sharpness: float | None = None


def _numbered(plural: str, i: int) -> str:
    return f"{plural.removesuffix('s')} {i}"


def _laid_out(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_laid_out, value))
    return value.clone(memory_format=torch.contiguous_format) if isinstance(value, Tensor) else value
