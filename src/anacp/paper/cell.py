"""What a run stands for, as data: a cell of one of the paper's tables, and the numbers printed there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from anacp.paper.tables import TABLES, PaperTable


@dataclass(frozen=True)
class Cell:
    """A table, a row, and the column, whatever their capitals; no column where the data are not the paper's.

    Raises
    ------
    UnknownNameError
        If the paper has no such table, or the table no such row or column; the nearest name is in the message.
    """

    table: str
    row: str
    column: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", TABLES.spelled(self.table))
        object.__setattr__(self, "row", self.of.rows.spelled(self.row))
        if self.column is not None:
            object.__setattr__(self, "column", self.of.columns.spelled(self.column))

    @property
    def of(self) -> PaperTable:
        """The table."""
        return TABLES[self.table]

    @property
    def place(self) -> int:
        """Where the row stands in its table, from 0."""
        return list(self.of.rows).index(self.row)

    def as_dict(self) -> dict[str, str]:
        """Return what has a value, ready for TOML and JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def printed_value(cell: Cell, metric: str) -> tuple[float, float] | None:
    """Return the mean and standard deviation that the paper prints for a cell; None where it prints none."""
    known = cell.of.printed
    if known == "ablation":
        found = ablation_setting(cell.row).get(metric, {}).get(cell.column)
    else:
        found = _numbers()["tables"][known]["rows"].get(cell.row, {}).get(cell.column, {}).get(metric)
    return None if found is None else (float(found[0]), float(found[1]))


def printed_relative_error(table: str, column: str, metric: str) -> float | None:
    """Return the share of the best baseline's error, in per cent, that the paper says AnaCP saves in a column."""
    errors = _numbers()["tables"].get(TABLES[table].printed, {}).get("relative_error", {})
    found = errors.get(column, {}).get(metric)
    return None if found is None else float(found)


def ablation_setting(row: str) -> Mapping[str, Any]:
    """Return how the paper describes a row of its ablation, and its accuracies; nothing for a row that is not its."""
    rows: list[dict[str, Any]] = _numbers()["ablation"]["rows"]
    return next((found for found in rows if str(found["row"]) == row), {})


def printed_cost() -> str:
    """Return what the paper says of time and memory, in one paragraph."""
    known = _numbers()["cost"]
    times = [
        f"{row} {', '.join(f'{seconds:,} s ({stage})' for stage, seconds in stages.items())}"
        for row, stages in known["seconds"].items()
    ]
    stored = [f"{row} stores {numbers / 1e6:.1f} million numbers" for row, numbers in known["numbers"].items()]
    return f"The paper reports for {known['setting']}: {'; '.join([*times, *stored])}."


def citation() -> str:
    """Return where the numbers come from."""
    return str(_numbers()["citation"])


@cache
def _numbers() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(files("anacp.paper").joinpath("numbers.json").read_text(encoding="utf-8"))
    return loaded
