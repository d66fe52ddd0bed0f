"""Rows of a user's own table, divided by a `split` column or, where there is none, by drawing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anacp.datasets.card import Card
from anacp.datasets.dataset import Dataset, Examples
from anacp.datasets.splits import split_per_class
from anacp.errors import DataFileError

__all__ = ["divide"]

SPLITS = {
    "train": "train",
    "test": "test",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "unknown": "unknown",
    "oos": "unknown",
}


def divide(
    path: Path, examples: Examples, splits: Sequence[str] | None, *, modality: str, test_share: float, seed: int
) -> Dataset:
    """Return the data set of a table whose rows are these."""
    if splits is None:
        train, test = split_per_class(examples.labels, test_share=test_share, role="table/split", seed=seed)
        rows = {"train": train, "test": test}
        how = f"{test_share:g} of each class for testing, seed {seed}, role table/split/CLASS"
    else:
        rows = _rows_by_split(path, splits)
        how = "as found in the column `split`"
    card = Card(name=path.stem, title=f"Rows of {path.name}", modality=modality, split=how)
    parts = {split: examples.take(found) for split, found in rows.items()}
    return Dataset(name=path.stem, modality=modality, card=card, **parts)


def _rows_by_split(path: Path, splits: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    found = []
    for row, split in enumerate(splits, start=1):
        if str(split).strip().lower() not in SPLITS:
            raise DataFileError(f"Expected a split among {', '.join(SPLITS)} in row {row} of {path}, got {split!r}.")
        found.append(SPLITS[str(split).strip().lower()])
    for split in ("train", "test"):
        if split not in found:
            raise DataFileError(f"Expected rows of the split {split!r} in {path}, got {', '.join(sorted(set(found)))}.")
    return {split: np.flatnonzero(np.array(found) == split) for split in sorted(set(found))}
