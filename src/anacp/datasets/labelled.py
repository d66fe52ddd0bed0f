"""Labelled examples as a user has them, all of them: nothing is set aside for testing."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from anacp.datasets.dataset import Examples
from anacp.datasets.folder import VALIDATION, class_folders, image_tree
from anacp.datasets.texts import labelled_rows
from anacp.errors import InputError

EVERYTHING = "all"


def is_text_file(path: str | Path) -> bool:
    """Say whether a path names a file of texts rather than a folder or archive of images."""
    return Path(path).suffix.lower() in (".csv", ".jsonl")


def read_labelled(path: str | Path, *, split: str | None = None) -> Examples:
    """Return every labelled image below PATH/CLASS, or every row of a CSV or JSON Lines file of `text` and `label`.

    Parameters
    ----------
    path : str or path
        A folder or archive of class folders, or a .csv or .jsonl file.
    split : str, optional
        Where there are splits (folders train/ and test/ or val/ and nothing else, or a column `split`): which one,
        or "all". It must be chosen there, so that no test example is learned by accident.
    """
    path = Path(path).expanduser()
    if is_text_file(path):
        examples, splits = labelled_rows(path)
        chosen = _choose(path, split, set(splits or ()))
        return examples.take(np.array(splits) == chosen) if chosen else examples
    tree, names = image_tree(path)
    tops = {name.split("/")[0] for name in names}
    is_split = "train" in tops and len(tops) > 1 and tops <= {"train", "test", *VALIDATION}
    chosen = _choose(path, split, tops if is_split else set())
    if is_split and not chosen:
        parts = [class_folders(tree, names, top) for top in sorted(tops)]
        items: list[Any] = [item for part in parts for item in part.items]
        return Examples(items, np.concatenate([part.labels for part in parts]))
    return class_folders(tree, names, chosen)


def _choose(path: Path, split: str | None, found: Collection[str]) -> str:
    """Return which split is meant, empty for everything."""
    if split == EVERYTHING or (split is None and not found):
        return ""
    if split is not None and split in found:
        return split
    if not found:
        raise InputError(f"Expected splits in {path}, got none but {split!r} asked for. Leave the split out.")
    listed = ", ".join(map(repr, sorted(found)))
    got = "none chosen" if split is None else repr(split)
    raise InputError(f"Expected one of the splits in {path} ({listed}) or 'all', got {got}. Say which (--split).")
