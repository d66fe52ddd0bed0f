"""Training and test rows, by a `split` column or, where a data set does not say, by drawing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.errors import DataFileError, ParameterError

SPLITS = {
    "train": "train",
    "test": "test",
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("unknown", "oos"), "unknown"),
}


def split_per_class(
    labels: ArrayLike, *, test_share: float, role: str, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test rows, both ascending, with that share of each class (rounded) for testing.

    A class of two or more rows has at least one on each side; a single row is for training. What is drawn for a class
    depends on (seed, role, class, its number of rows) and nothing else.
    """
    import torch

    from anacp.randomness import generator

    if not 0 < test_share < 1:
        raise ParameterError(f"Expected `test_share` between 0 and 1, got {test_share!r}.")
    distinct, codes = np.unique(np.asarray(labels), return_inverse=True)
    tested = np.zeros(len(codes), bool)
    for code, label in enumerate(distinct.tolist()):
        rows = np.flatnonzero(codes == code)
        count = min(max(round(test_share * len(rows)), 1), len(rows) - 1)
        order = torch.randperm(len(rows), generator=generator(seed, f"{role}/{label}")).numpy()
        tested[rows[order[:count]]] = True
    return np.flatnonzero(~tested), np.flatnonzero(tested)


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
