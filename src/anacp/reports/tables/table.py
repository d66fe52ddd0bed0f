"""A table before it is written in any format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from anacp.learners.summary import format_bytes
from anacp.reports.collect import Statistic

__all__ = [
    "MISSING",
    "Cell",
    "Column",
    "Kind",
    "Row",
    "Table",
    "blocks",
    "number",
    "rank",
    "seconds",
    "share",
    "size",
    "words",
]

MISSING = "–"
SHORTEST = 1e-3  # seconds that are worth a number
Kind = Literal["", "bound", "other", "summary"]


@dataclass(frozen=True)
class Cell:
    """What a reader sees, and the numbers behind it."""

    text: str = MISSING
    value: float | None = None
    deviation: float | None = None  # None where there is one seed, or none to speak of
    mark: Literal["", "best", "second"] = ""


@dataclass(frozen=True)
class Column:
    """A column; neighbours of the same group share a heading."""

    name: str
    group: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Row:
    """A row; a rule is drawn where the kind of the row before was another."""

    cells: tuple[Cell, ...]
    kind: Kind = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption; the first column names the rows."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def blocks(groups: Iterable[Iterable[tuple[Cell, ...]]]) -> tuple[Row, ...]:
    """Return the rows of groups that a rule divides."""
    kinds: tuple[Kind, Kind] = ("", "other")
    return tuple(Row(cells, kinds[index % 2]) for index, group in enumerate(groups) for cells in group)


def words(text: object) -> Cell:
    """Return a cell of text."""
    return Cell(str(text)) if text not in (None, "") else Cell()


def number(found: Statistic | tuple[float, float] | None) -> Cell:
    """Return an accuracy as it is printed; the deviation of a single seed is no number."""
    if found is None:
        return Cell()
    if isinstance(found, tuple):
        found = Statistic(*found, n=3)
    return Cell(f"{found.mean:.2f}", found.mean, found.deviation if found.n > 1 else None)


def seconds(value: float) -> Cell:
    """Return a time with about two digits that mean something."""
    if value < SHORTEST:
        return Cell(MISSING, 0.0)
    return Cell(f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2g}", value)


def size(value: float) -> Cell:
    """Return a size in bytes with its unit."""
    return Cell(format_bytes(value), value) if value else Cell()


def share(value: float | None) -> Cell:
    """Return a reduction of error in per cent, with the way the error went."""
    if value is None:
        return Cell()
    return Cell(f"{abs(value):.1f} % {'↓' if value >= 0 else '↑'}", value)


def rank(cells: Sequence[Cell], competing: Sequence[bool]) -> list[Cell]:
    """Mark the best and second best of the competing cells; equal as printed is equal, and one alone is not best."""
    shown = [
        round(cell.value, 2) if counts and cell.value is not None else None
        for cell, counts in zip(cells, competing, strict=True)
    ]
    present = [value for value in shown if value is not None]
    order = sorted(set(present), reverse=True) if len(present) > 1 else []
    marks: dict[float | None, Literal["best", "second"]] = dict(zip(order, ("best", "second"), strict=False))
    return [replace(cell, mark=marks.get(value, "")) for cell, value in zip(cells, shown, strict=True)]
