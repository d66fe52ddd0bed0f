"""CLINC150: queries of 150 intents, and queries that belong to none."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.datasets.sources import Layout, Source, SourcePart, tables
from anacp.datasets.tables import open_split
from anacp.errors import DataFileError
from anacp.files import read_json as read_document

OUT_OF_SCOPE = "oos"


def read_json(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read lists of [text, intent] under train, val, test and oos_test."""
    path = paths[0]
    content = read_document(path)

    def examples(key: str) -> Examples:
        pairs = content.get(key) if isinstance(content, dict) else None
        if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise DataFileError(
                f"Expected a list of [text, intent] under {key!r} in {path}, got {type(pairs).__name__}."
            )
        return Examples([str(text) for text, _ in pairs], np.array([str(intent) for _, intent in pairs], np.str_))

    train, validation, test, unknown = map(examples, ("train", "val", "test", "oos_test"))
    return Dataset(card.name, "text", train, test, card, validation, unknown)


def read_tables(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read a copy, in which out-of-scope queries are rows of an intent `oos`."""

    def examples(*names: str) -> Examples:
        table = open_split(paths[0], *names)
        return Examples(table.values(table.choose("text")), table.labels(table.choose("intent", "label")))

    train, validation, test = examples("train"), examples("validation", "val"), examples("test")
    unknown = test.take(test.labels == OUT_OF_SCOPE)
    known = (part.take(part.labels != OUT_OF_SCOPE) for part in (train, test, validation))
    train, test, validation = known
    return Dataset(card.name, "text", train, test, card, validation, unknown)


CLINC150 = Source(
    Card(
        name="clinc150",
        title="CLINC150",
        modality="text",
        split="official; unknown are the out-of-scope test queries",
        n_classes=150,
        sizes={"train": 15_000, "validation": 3_000, "test": 4_500, "unknown": 1_000},
        licence="CC-BY 3.0",
        citation=(
            "S. Larson et al., An Evaluation Dataset for Intent Classification and Out-of-Scope Prediction, EMNLP 2019"
        ),
        home="https://github.com/clinc/oos-eval",
    ),
    (Layout((SourcePart(("data_full.json", "clinc150.json")),), read_json), tables(read_tables, "plus")),
    aliases=("clinc", "clinc-150", "clinc-oos"),
)
