"""The numbers that the paper prints, matched to rows and data sets of ours."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Column", "ablation_row", "citation", "column_for", "cost", "place_of", "row_name"]

# What the paper calls our data sets and backbones; anything else was not in the paper.
DATASETS = {
    "cifar100": "CIFAR100",
    "imagenet-r": "ImageNet-R",
    "cub-200-2011": "CUB",
    "tiny-imagenet": "TinyImageNet",
    "stanford-cars": "Cars",
    "stanford-cars-190": "Cars",
}
BACKBONES = {"dinov2-base": "dinov2", "mocov3-base": "mocov3"}
TABLES = {"table1": "dinov2", "table2": "mocov3", "ablation": "dinov2"}
ALIASES = {"ncm": "simplecil", "linearprobe": "jointlinearprobe"}
N_TASKS = 10


@dataclass(frozen=True)
class Column:
    """One data set of one of the paper's tables."""

    table: str
    dataset: str

    @property
    def backbone(self) -> str:
        """The backbone, as the paper spells it."""
        return str(_numbers()["tables"][self.table]["backbone"])

    @property
    def title(self) -> str:
        """What the numbers were measured on."""
        return f"{self.backbone} on {self.dataset}"

    def value(self, row: str | None, metric: str) -> tuple[float, float] | None:
        """Return the mean and standard deviation printed for a row, if there is one."""
        cells = _numbers()["tables"][self.table]["rows"].get(row, {})
        value = cells.get(self.dataset, {}).get(metric)
        return None if value is None else (float(value[0]), float(value[1]))

    def relative_error(self, metric: str) -> float:
        """Return the reduction of error that the paper prints for AnaCP against the best baseline."""
        return float(_numbers()["tables"][self.table]["relative_error"][self.dataset][metric])

    def ablation(self, row: str) -> tuple[float, float] | None:
        """Return A_last of a row of the ablation, which the paper made with DINO-v2 alone."""
        found = ablation_row(row) if self.table == TABLES["ablation"] else None
        return None if found is None else (found["A_last"][self.dataset][0], found["A_last"][self.dataset][1])


def citation() -> str:
    """Return where the numbers come from."""
    return str(_numbers()["citation"])


def cost() -> str:
    """Return what the paper says of time and memory, in one paragraph."""
    known = _numbers()["cost"]
    times = [
        f"{row} {', '.join(f'{seconds:,} s ({stage})' for stage, seconds in stages.items())}"
        for row, stages in known["seconds"].items()
    ]
    stored = [f"{row} stores {numbers / 1e6:.1f} million numbers" for row, numbers in known["numbers"].items()]
    return f"The paper reports for {known['setting']}: {'; '.join([*times, *stored])}."


def column_for(
    *, dataset: str, backbone: str | None, n_tasks: int | None, substitute: str | None, table: str | None
) -> Column | None:
    """Return the paper's column that ours repeats, or that it is declared a substitute for; None where there is none.

    A substitute says what it stands for in words, such as "Table 1: DINO-v2 on CIFAR100"; unless exactly one data set
    is named there, no column is chosen.
    """
    if substitute is not None:
        named = [name for name in dict.fromkeys(DATASETS.values()) if _folded(name) in _folded(substitute)]
        key = _table_named(substitute) or TABLES.get(table or "")
        return Column(key, named[0]) if key and len(named) == 1 else None
    key = BACKBONES.get(backbone or "")
    if key is None or dataset not in DATASETS or n_tasks != N_TASKS:
        return None
    return Column(key, DATASETS[dataset])


def row_name(title: str) -> str | None:
    """Return the paper's row that a title means, however it is spelled; None for a method it does not have."""
    folded = _folded(title)
    return _rows().get(ALIASES.get(folded, folded))


def place_of(row: str | None) -> int:
    """Return where a row stands in the paper's tables, after all of them where it is not the paper's."""
    rows = list(_rows().values())
    return rows.index(row) if row in rows else len(rows)


def ablation_row(number: str) -> Mapping[str, Any] | None:
    """Return the settings and accuracies of a row of the ablation table."""
    rows: list[dict[str, Any]] = _numbers()["ablation"]["rows"]
    return next((row for row in rows if str(row["row"]) == number), None)


def _table_named(text: str) -> str | None:
    tables = _numbers()["tables"]
    for key, table in tables.items():
        if re.search(rf"{table['title']}\b", text, re.IGNORECASE) or _folded(table["backbone"]) in _folded(text):
            return str(key)
    return None


def _folded(name: str) -> str:
    return re.sub(r"[^\w]|_", "", name.casefold())


@cache
def _rows() -> Mapping[str, str]:
    return {_folded(row): row for table in _numbers()["tables"].values() for row in table["rows"]}


@cache
def _numbers() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(files("anacp.reports").joinpath("paper.json").read_text(encoding="utf-8"))
    return loaded
