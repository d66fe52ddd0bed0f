"""What was solved from the statistics, as a value with a name for each part."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor

from anacp.learners.familiarity import Familiarity
from anacp.learners.reference import Reference

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

    def portable(self) -> Self:
        """Return the same for a graph that is exported: in float32 on the CPU, from as few numbers as will do."""
        return replace(self, **{field.name: _portable(getattr(self, field.name)) for field in fields(self)})


@dataclass(frozen=True, eq=False)
class LinearWeights(Solution):
    """Scores x W + b."""

    weights: Tensor  # (d, c)
    biases: Tensor  # (c,)


@dataclass(frozen=True, eq=False)
class Solved(Generic[S]):
    """A solution, the parameters it was solved with, and what was set for it since.

    That is how sharp its probabilities are, and what measures how familiar a row is, once these are known; until both
    are, the reference that they are set by.
    """

    solution: S
    parameters: Mapping[str, Any]
    sharpness: float | None = None
    familiarity: Familiarity | None = None
    reference: Reference | None = None


def _numbered(plural: str, i: int) -> str:
    return f"{plural.removesuffix('s')} {i}"


def numbers(value: Any) -> Iterator[Tensor]:
    """Yield every tensor that a solution holds, also within its parts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from numbers(one)
    elif is_dataclass(value):
        for one in vars(value).values():
            yield from numbers(one)


def _portable(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_portable, value))
    if isinstance(value, Tensor):
        return value.to("cpu", torch.float32)
    return value.portable() if hasattr(value, "portable") else value


def _laid_out(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_laid_out, value))
    if not isinstance(value, Tensor):
        return value
    tall = value.ndim == 2 and value.shape[0] > value.shape[1]  # column by column: a single row reads it twice as fast
    turned = value.mT if tall else value
    whole = turned.is_contiguous() and turned.untyped_storage().nbytes() == turned.nbytes
    turned = turned if whole else turned.clone(memory_format=torch.contiguous_format)
    return turned.mT if tall else turned
