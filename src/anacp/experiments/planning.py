"""The paper's tables as runs: on which backbones and data, and what stands in where these are not here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anacp.backbones import backbone as load_backbone
from anacp.backbones import preset
from anacp.datasets import open_dataset
from anacp.errors import AnacpError, MissingDataError, UnknownNameError
from anacp.experiments.specification import Specification
from anacp.experiments.tables import TABLES, Row
from anacp.methods.trained import SETTINGS

__all__ = ["Column", "Plan", "plan"]

Constants = dict[str, dict[str, Any]]  # by method: what its authors choose by backbone

DATASETS = {
    "cifar100": "CIFAR100",
    "imagenet-r": "ImageNet-R",
    "cub-200-2011": "CUB",
    "tiny-imagenet": "TinyImageNet",
    "stanford-cars": "Cars",
}
_OF_DINOV2: Constants = {
    "KLDA": {"gamma": 1e-4, "shrinkage": 1e-3},
    "GACL": {"ridge": 1e4},
}
_OF_MOCOV3: Constants = {
    "KLDA": {"gamma": 1e-2, "shrinkage": 1e-4},
    "GACL": {"ridge": 1e2},
}
_OF_TEXTS: Constants = {
    "KLDA": {"gamma": 1e-2, "shrinkage": 1e-4},  # published for MiniLM
    "LinearProbe": {"learning_rate": 0.1},  # chosen on the validation split of CLINC150, as all of SETTINGS["minilm"]
}
_ON_IMAGENET_R: Constants = {"FeCAM": {"shrinkage": 10.0, "off_diagonal_shrinkage": 10.0}}
QUICK_PROJECTED = 1000


@dataclass(frozen=True)
class Column:
    """What the rows are run on."""

    dataset: str
    backbone: str | None  # None where there are only features
    recipe: str | None  # of first-session adaptation; None where the backbone cannot be adapted
    constants: Constants
    substitute: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Plan:
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
) -> Plan:
    """Return the runs of one of the paper's tables.

    Parameters
    ----------
    table : {"table1", "table2", "ablation", "forgetting", "efficiency"}
        Which one.
    datasets : sequence of str
        Some of the table's data sets, or any other that `open_dataset` takes; all of the table's if left out.
    backbone : str, optional
        Another than the paper's.
    methods : sequence of str
        Titles of rows, "analytic" (all that train no network on every task) or "all".
    seeds : sequence of int
        Each orders the classes anew and seeds the method.
    quick : bool
        D = 1000 and the first seed only: to see the shape of a table, not its numbers.
    substitute : bool
        Run on what every installation has, labelled as such, instead of the paper's backbone and data.
    """
    rows = _rows(table, methods)
    columns = _substitutes(table, datasets) if substitute else _columns(table, datasets, backbone)
    reasons = [_missing(column) for column in columns]
    here = [column for column, reason in zip(columns, reasons, strict=True) if reason is None]
    made = [
        _specification(row, column, seed, quick)
        for column in here
        for seed in (seeds[:1] if quick else seeds)
        for row in rows
        if not (row.trained and column.backbone is None)
    ]
    return Plan(made, [reason for reason in reasons if reason is not None])


def _rows(table: str, methods: Sequence[str]) -> list[Row]:
    if table not in TABLES:
        near = difflib.get_close_matches(table, TABLES, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UnknownNameError(f"Unknown table {table!r}. {hint}Known: {', '.join(TABLES)}.")
    rows = TABLES[table]
    by_name = {row.title.casefold(): row for row in rows}
    chosen: list[Row] = []
    for name in methods:
        if name in ("all", "analytic"):
            chosen += [row for row in rows if name == "all" or not row.trained]
        elif name.casefold() in by_name:
            chosen.append(by_name[name.casefold()])
        else:
            near = difflib.get_close_matches(name.casefold(), by_name, n=1)
            hint = f"Did you mean {by_name[near[0]].title!r}? " if near else ""
            known = ", ".join(row.title for row in rows)
            raise UnknownNameError(f"Unknown row {name!r} of {table}. {hint}Known: analytic, all, {known}.")
    return list({row.title: row for row in chosen}.values())


def _columns(table: str, datasets: Sequence[str], backbone: str | None) -> list[Column]:
    name = backbone or ("mocov3-base" if table == "table2" else "dinov2-base")
    moco = name.startswith("mocov3")
    recipe = None if _has_no_blocks(name) else "mocov3" if moco else "dinov2"
    published = ("cifar100",) if table in ("forgetting", "efficiency") else tuple(DATASETS)
    return [
        Column(
            dataset,
            name,
            recipe,
            (_OF_MOCOV3 if moco else _OF_DINOV2) | (_ON_IMAGENET_R if dataset == "imagenet-r" else {}),
        )
        for dataset in datasets or published
    ]


def _has_no_blocks(backbone: str) -> bool:
    return not backbone.startswith("hf:") and preset(backbone).architecture.startswith("efficientnet")


def _substitutes(table: str, datasets: Sequence[str]) -> list[Column]:
    number = {"table2": "Table 2: MoCo-v3", "ablation": "the ablation: DINO-v2"}.get(table, "Table 1: DINO-v2")
    constants = _OF_MOCOV3 if table == "table2" else _OF_DINOV2
    images = Column(
        "sample:cifar100",
        None,
        None,
        constants,
        {
            "for": f"{number} on CIFAR100",
            "note": "EfficientNet-Lite0 features of 100 × 50 training and 100 × 20 test images of CIFAR-100, without "
            "first-session adaptation, which needs a transformer.",
        },
    )
    texts = Column(
        "clinc150",
        "minilm-l6",
        "minilm",
        constants | _OF_TEXTS | SETTINGS["minilm"],
        {"for": number, "note": "MiniLM on the 150 intents of CLINC150."},
    )
    if _missing(texts):
        note = (
            "MiniLM features of the 150 intents of CLINC150, without first-session adaptation, which needs the texts: "
            "`anacp datasets card clinc150` says where they go."
        )
        texts = replace(
            texts, dataset="sample:clinc150", backbone=None, recipe=None, substitute={"for": number, "note": note}
        )
    known = {"clinc150": texts, "cifar100": images}
    unknown = [name for name in datasets if name.removeprefix("sample:") not in known]
    if unknown:
        raise UnknownNameError(f"Unknown substitute {unknown[0]!r}. Known: {', '.join(known)}.")
    return [known[name.removeprefix("sample:")] for name in datasets or known]


def _missing(column: Column) -> str | None:
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


def _specification(row: Row, column: Column, seed: int, quick: bool) -> Specification:
    adapted = row.adapted and column.recipe is not None
    parameters = {**column.constants.get(row.method, {}), **row.parameters}
    if quick and row.method in ("KLDA", "GACL", "ELM", "RanPAC", "AnaCP"):
        parameters["n_projected"] = min(QUICK_PROJECTED, parameters.get("n_projected", QUICK_PROJECTED))
    return Specification(
        dataset=column.dataset,
        method=row.method,
        parameters=parameters,
        title=row.title,
        backbone=column.backbone,
        adaptation=("ranpac" if row.method == "RanPAC" and column.substitute is None else column.recipe)
        if adapted
        else None,
        concatenate=row.concatenate and adapted,
        joint=row.joint,
        seed=seed,
        keep_model=seed == 0,
        embedding=row.title == "AnaCP" and seed == 0,
        substitute=column.substitute,
    )
