"""A table before it is written in any format."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from anacp.reports.collection import Mean
from anacp.words import format_bytes

MISSING = "–"
SHORTEST = 1e-3  # seconds that are worth a number
RowKind = Literal["", "bound", "other", "summary"]


@dataclass(frozen=True)
class TableCell:
    """What a reader sees, and the numbers behind it."""

    text: str = MISSING
    value: float | None = None
    deviation: float | None = None  # None where there is one seed, or none to speak of
    mark: Literal["", "best", "second"] = ""


@dataclass(frozen=True)
class TableColumn:
    """A column; neighbours of the same group share a heading."""

    name: str
    group: str = ""
    numeric: bool = True
    wide: bool = False  # holds sentences, which may break

    @property
    def head(self) -> str:
        """Its name, with that of its group."""
        return f"{self.group}: {self.name}" if self.group else self.name


@dataclass(frozen=True)
class TableRow:
    """A row; a rule is drawn where the kind of the row before was another."""

    cells: tuple[TableCell, ...]
    kind: RowKind = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption; the first column names the rows."""

    id: str
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]

    def groups(self) -> list[tuple[str, int]]:
        """Return the headings above the columns, each with how many it spans; nothing where no column has one."""
        spans = [(name, len(list(found))) for name, found in groupby(self.columns, key=lambda column: column.group)]
        return spans if any(name for name, _ in spans) else []

    def ruled(self) -> Iterator[tuple[TableRow, bool]]:
        """Yield each row, and whether a rule stands above it."""
        for index, row in enumerate(self.rows):
            yield row, index > 0 and row.kind != self.rows[index - 1].kind


def text_columns(*names: str) -> tuple[TableColumn, ...]:
    """Return columns that hold no numbers."""
    return tuple(TableColumn(name, numeric=False) for name in names)


def blocks(groups: Iterable[Iterable[tuple[TableCell, ...]]]) -> tuple[TableRow, ...]:
    """Return the rows of groups that a rule divides."""
    kinds: tuple[RowKind, RowKind] = ("", "other")
    return tuple(TableRow(cells, kinds[index % 2]) for index, group in enumerate(groups) for cells in group)


def words(text: object) -> TableCell:
    """Return a cell of text."""
    return TableCell(str(text)) if text not in (None, "") else TableCell()


def measured(found: Mean | tuple[float, float] | None) -> TableCell:
    """Return an accuracy as it is printed; the deviation of a single seed is no number."""
    if found is None:
        return TableCell()
    if isinstance(found, tuple):
        found = Mean(*found, n=3)
    return TableCell(f"{found.value:.2f}", found.value, found.deviation if found.n > 1 else None)


def seconds(value: float) -> TableCell:
    """Return a time with about two digits that mean something."""
    if value < SHORTEST:
        return TableCell(MISSING, 0.0)
    return TableCell(f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2g}", value)


def size(value: float) -> TableCell:
    """Return a size in bytes with its unit."""
    return TableCell(format_bytes(value), value) if value else TableCell()


def share(value: float | None) -> TableCell:
    """Return a reduction of error in per cent, with the way the error went."""
    if value is None:
        return TableCell()
    return TableCell(f"{abs(value):.1f} % {'↓' if value >= 0 else '↑'}", value)


def rank(cells: Sequence[TableCell], competing: Sequence[bool]) -> list[TableCell]:
    """Mark the best and second best of the competing cells; equal as printed is equal, and one alone is not best."""
    shown = [
        round(cell.value, 2) if counts and cell.value is not None else None
        for cell, counts in zip(cells, competing, strict=True)
    ]
    present = [value for value in shown if value is not None]
    order = sorted(set(present), reverse=True) if len(present) > 1 else []
    marks: dict[float | None, Literal["best", "second"]] = dict(zip(order, ("best", "second"), strict=False))
    return [replace(cell, mark=marks.get(value, "")) for cell, value in zip(cells, shown, strict=True)]
