"""The tables of the paper: rows by the titles it gives them, columns by its names of the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from anacp.names import Names

METHOD = "AnaCP"  # the row of the method that the paper proposes
UNRANKED = "AnaCP - Σ_y"  # printed as an ablation, outside the ranking
N_TASKS = 10  # in every table
AS_PRINTED = {"replay": "sampled", "projection": "gaussian"}  # of the method: how the paper computes it


@dataclass(frozen=True)
class PaperRow:
    """One line of a table: a method, and how it was run."""

    title: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    adapted: bool = False  # the backbone is adapted to the first task
    recipe: str = ""  # of the row alone, instead of the column's
    concatenate: bool = False
    joint: bool = False


@dataclass(frozen=True)
class PaperColumn:
    """One data set of a table: what the paper calls it, and what it is here."""

    title: str
    dataset: str
    backbone: str
    recipe: str  # of first-session adaptation; also the name of the settings that methods have for the backbone
    also: tuple[str, ...] = ()  # other names of the same data
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by method: chosen for these data


@dataclass(frozen=True)
class PaperTable:
    """One of the tables that can be run again."""

    name: str
    title: str
    backbone: str  # as the paper spells it
    rows: Names[PaperRow]
    columns: Names[PaperColumn]
    printed: str  # the table in which the paper prints its accuracies

    def column_of(self, dataset: str, backbone: str | None) -> str | None:
        """Return the title of the column that has these data and this backbone; None where they are not the paper's."""
        for column in self.columns.values():
            if backbone == column.backbone and dataset in (column.dataset, *column.also):
                return column.title
        return None


_MAIN = (
    PaperRow("Joint linear probe", "LinearProbe", joint=True),
    PaperRow("Joint fine-tuning", "JointFineTuning", joint=True),
    PaperRow("L2P", "L2P"),
    PaperRow("DualPrompt", "DualPrompt"),
    PaperRow("CODA-Prompt", "CODAPrompt"),
    PaperRow("SLCA", "SLCA"),
    PaperRow("Sequential fine-tuning", "SequentialFineTuning"),  # not the paper's: what forgetting looks like
    PaperRow("SimpleCIL", "NCM"),
    PaperRow("SLDA", "SLDA"),
    PaperRow("KLDA", "KLDA"),
    PaperRow("GACL", "GACL"),
    PaperRow("APER", "NCM", adapted=True, concatenate=True),
    PaperRow("FeCAM", "FeCAM"),
    PaperRow("RanPAC", "RanPAC", adapted=True, recipe="ranpac"),
    PaperRow(UNRANKED, METHOD, {**AS_PRINTED, "covariance": "class"}, adapted=True),
    PaperRow(METHOD, METHOD, AS_PRINTED, adapted=True),
)
_WITHOUT_PROMPTS = tuple(row for row in _MAIN if row.title not in ("L2P", "DualPrompt", "CODA-Prompt"))

# The paper's numbering; 6, 9, 11 and 15 are the method as it is. Every row is adapted, as in the paper.
_CHANGES: tuple[Mapping[str, Any], ...] = (
    {"method": "NCM"},
    {"classifier": "ncm", "targets": "means"},
    {"classifier": "ncm"},
    {"method": "ELM"},
    {"targets": "means"},
    {},
    {"n_replay": 20},
    {"n_replay": 50},
    {},
    {"n_heads": 1},
    {},
    {"n_heads": 5},
    {"n_projected": 1000},
    {"n_projected": 2000},
    {},
    {"n_projected": 10_000},
)


def _ablation() -> Iterable[PaperRow]:
    for number, changes in enumerate(_CHANGES, 1):
        if "method" in changes:
            yield PaperRow(str(number), str(changes["method"]), adapted=True)
        else:
            yield PaperRow(str(number), METHOD, {**AS_PRINTED, **changes}, adapted=True)
    yield PaperRow("without FSA", METHOD, AS_PRINTED)  # not the paper's: what adaptation contributes


def _columns(backbone: str, recipe: str) -> tuple[PaperColumn, ...]:
    on_imagenet_r = {"FeCAM": {"shrinkage": 10.0, "off_diagonal_shrinkage": 10.0}}
    return (
        PaperColumn("CIFAR100", "cifar100", backbone, recipe),
        PaperColumn("ImageNet-R", "imagenet-r", backbone, recipe, parameters=on_imagenet_r),
        PaperColumn("CUB", "cub-200-2011", backbone, recipe),
        PaperColumn("TinyImageNet", "tiny-imagenet", backbone, recipe),
        PaperColumn("Cars", "stanford-cars", backbone, recipe, also=("stanford-cars-190",)),
    )


_DINO, _MOCO = _columns("dinov2-base", "dinov2"), _columns("mocov3-base", "mocov3")


def _table(
    name: str,
    title: str,
    rows: Iterable[PaperRow],
    columns: Iterable[PaperColumn],
    *,
    backbone: str = "DINO-v2",
    printed: str = "table1",
) -> PaperTable:
    by_row = Names(f"row of {name}", {row.title: row for row in rows})
    by_column = Names(f"column of {name}", {column.title: column for column in columns})
    return PaperTable(name, title, backbone, by_row, by_column, printed)


_ALL = (
    _table("table1", "Table 1", _MAIN, _DINO),
    _table("table2", "Table 2", _WITHOUT_PROMPTS, _MOCO, backbone="MoCo-v3", printed="table2"),
    _table("ablation", "Table 3 (ablation)", _ablation(), _DINO, printed="ablation"),
    _table("forgetting", "analysis of forgetting", [row for row in _MAIN if row.title == METHOD], _DINO[:1]),
    _table("efficiency", "analysis of efficiency", _MAIN, _DINO[:1]),
)

TABLES: Names[PaperTable] = Names("table", {table.name: table for table in _ALL})
