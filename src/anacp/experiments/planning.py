"""The paper's tables as runs: on which backbones and data, and what stands in where these are not here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anacp.backbones import backbone as load_backbone
from anacp.backbones import preset
from anacp.catalogue import METHODS
from anacp.datasets import open_dataset
from anacp.errors import AnacpError, MissingDataError, ParameterError
from anacp.experiments.specification import Specification
from anacp.names import Names
from anacp.paper import METHOD, TABLES, Cell, PaperRow, PaperTable

# Whose settings methods and adaptation have, by the beginning of the backbone's name; others have DINO-v2's. MPNet was
# trained as MiniLM was, on the same pairs: it has the settings chosen for that, and none of its own.
FAMILIES = {"mocov3": "mocov3", "minilm": "minilm", "mpnet": "minilm"}
EVERY = ("analytic", "all")


@dataclass(frozen=True)
class PlannedColumn:
    """What the rows are run on."""

    dataset: str
    backbone: str | None  # None where there are only features
    family: str  # whose settings methods have
    adaptable: bool  # whether the backbone can be adapted to the first task
    column: str | None  # of the paper, if the data are the paper's or stand in for them
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by method: chosen for the data
    substitute: Mapping[str, str] | None = None


@dataclass(frozen=True)
class PlannedTable:
    """The runs of a table, and what cannot be run here, with the reason."""

    specifications: list[Specification]
    missing: list[str]


def plan(
    table: str,
    *,
    datasets: Sequence[str] = (),
    backbone: str | None = None,
    methods: Sequence[str] = ("analytic",),
    seeds: Sequence[int] = (0, 1, 2),
    quick: bool = False,
    substitute: bool = False,
    frozen: bool = False,
) -> PlannedTable:
    """Return the runs of one of the paper's tables, each with the cell that it stands for.

    Parameters
    ----------
    table : {"table1", "table2", "ablation", "forgetting", "efficiency"}
        Which one.
    datasets : sequence of str
        Some of the table's data sets, or any other that `open_dataset` takes; all of the table's if left out.
    backbone : str, optional
        Another than the paper's. As a substitute it takes the place of MiniLM, and stands alone unless data are named.
    methods : sequence of str
        Titles of rows, "analytic" (all that train no network on every task) or "all".
    seeds : sequence of int
        Each orders the classes anew and seeds the method.
    quick : bool
        Quick settings of the methods and the first seed only: to see the shape of a table, not its numbers.
    substitute : bool
        Run on what every installation has, labelled as such, instead of the paper's backbone and data.
    frozen : bool
        Adapt no backbone to the first task, in any row, and say so. Only with `substitute`.
    """
    if frozen and not substitute:
        raise ParameterError(
            "Expected `frozen` with `substitute`, got it alone: rows that the paper adapts would not be the paper's."
        )
    known = TABLES.find(table)
    rows = _rows(known, methods)
    columns = _substitutes(known, datasets, backbone, frozen) if substitute else _columns(known, datasets, backbone)
    reasons = [_missing(column) for column in columns]
    here = [column for column, reason in zip(columns, reasons, strict=True) if reason is None]
    made = [
        _specification(known, row, column, seed, quick)
        for column in here
        for seed in (seeds[:1] if quick else seeds)
        for row in rows
        if not (_trains(row) and column.backbone is None)
    ]
    return PlannedTable(made, [reason for reason in reasons if reason is not None])


def _trains(row: PaperRow) -> bool:
    """Return whether a row trains a network on every task, which takes hours on a CPU."""
    return METHODS[row.method].takes == "items"


def _rows(table: PaperTable, methods: Sequence[str]) -> list[PaperRow]:
    choices = Names(table.rows.kind, dict(table.rows), besides=", ".join(EVERY))
    chosen: dict[str, PaperRow] = {}
    for name in methods:
        if name in EVERY:
            chosen |= {row.title: row for row in table.rows.values() if name == "all" or not _trains(row)}
        else:
            chosen[choices.spelled(name)] = choices.find(name)
    return list(chosen.values())


def _columns(table: PaperTable, datasets: Sequence[str], backbone: str | None) -> list[PlannedColumn]:
    published = {column.dataset: column for column in table.columns.values()}
    name = backbone or next(iter(published.values())).backbone
    return [
        PlannedColumn(
            dataset,
            name,
            _family(name),
            adaptable=not _has_no_blocks(name),
            column=table.column_of(dataset, name),
            parameters=published[dataset].parameters if dataset in published else {},
        )
        for dataset in datasets or published
    ]


def _family(backbone: str) -> str:
    return next((family for start, family in FAMILIES.items() if backbone.startswith(start)), "dinov2")


def _has_no_blocks(backbone: str) -> bool:
    return not backbone.startswith("hf:") and preset(backbone).architecture.startswith("efficientnet")


def _substitutes(table: PaperTable, datasets: Sequence[str], backbone: str | None, frozen: bool) -> list[PlannedColumn]:
    column = next(iter(table.columns.values()))
    stands_for = f"{table.title}: {table.backbone}"
    images = PlannedColumn(
        "sample:cifar100",
        None,
        column.recipe,
        adaptable=False,
        column=column.title,
        substitute={
            "for": f"{stands_for} on {column.title}",
            "note": "EfficientNet-Lite0 features of 100 × 50 training and 100 × 20 test images of CIFAR-100, without "
            "first-session adaptation, which needs a transformer.",
        },
    )
    name = backbone or "minilm-l6"
    without = ", without first-session adaptation in any row" if frozen else ""
    texts = PlannedColumn(
        "clinc150",
        name,
        _family(name),
        adaptable=not frozen,
        column=None,
        substitute={
            "for": stands_for,
            "note": f"{'MiniLM' if backbone is None else backbone} on the 150 intents of CLINC150{without}.",
        },
    )
    if backbone is None and _missing(texts):
        note = (
            "MiniLM features of the 150 intents of CLINC150, without first-session adaptation, which needs the texts: "
            "`anacp datasets card clinc150` says where they go."
        )
        said = {"for": stands_for, "note": note}
        texts = replace(texts, dataset="sample:clinc150", backbone=None, adaptable=False, substitute=said)
    known = Names("substitute", {"clinc150": texts, "cifar100": images})
    return [
        known.find(name.removeprefix("sample:")) for name in datasets or (known if backbone is None else ("clinc150",))
    ]


def _missing(column: PlannedColumn) -> str | None:
    """Return what is missing for a column, and what to do about it."""
    try:
        open_dataset(column.dataset)
    except MissingDataError as problem:
        return f"{column.dataset}: {problem}"
    try:
        if column.backbone is not None:
            load_backbone(column.backbone)
    except AnacpError as problem:
        return f"{column.backbone}: {problem}"
    return None


def _specification(table: PaperTable, row: PaperRow, column: PlannedColumn, seed: int, quick: bool) -> Specification:
    entry = METHODS[row.method]
    adapted = row.adapted and column.adaptable
    own = row.recipe if column.substitute is None else ""  # published for the paper's backbones
    return Specification(
        dataset=column.dataset,
        method=row.method,
        parameters={
            **entry.settings.get(column.family, {}),
            **column.parameters.get(row.method, {}),
            **row.parameters,
            **(entry.quick if quick else {}),
        },
        title=row.title,
        backbone=column.backbone,
        adaptation=(own or column.family) if adapted else None,
        concatenate=row.concatenate and adapted,
        joint=row.joint,
        seed=seed,
        keep_model=seed == 0,
        embedding=row.title == METHOD and seed == 0,
        paper=Cell(table.name, row.title, column.column),
        quick=quick,
        substitute=column.substitute,
    )
