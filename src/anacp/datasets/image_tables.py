"""Images and labels from a Hugging Face copy."""

from collections.abc import Sequence
from pathlib import Path

from anacp.datasets.card import Card
from anacp.datasets.dataset import Dataset, Examples
from anacp.datasets.tables import Table, find_splits
from anacp.errors import DataFileError

__all__ = ["open_split", "read_image_tables"]

LABELS = ("fine_label", "label", "labels", "class", "wnid")


def open_split(folder: Path, *names: str) -> Table:
    """Return the first of these splits that the folder has."""
    splits = find_splits(folder)
    for name in names:
        if splits.get(name):
            return Table(name, tuple(splits[name]))
    raise DataFileError(f"Expected a split named {' or '.join(names)} in {folder}, got {', '.join(splits) or 'none'}.")


def read_image_tables(
    card: Card, paths: Sequence[Path], *, test: Sequence[str] = ("test",), numbered: bool = False
) -> Dataset:
    """Return the data set of a copy with one table for training and one for testing."""

    def examples(*names: str) -> Examples:
        table = open_split(paths[0], *names)
        labels = table.labels(table.choose(*LABELS), numbered=numbered)
        return Examples(table.images(table.choose("image", "img")), labels)

    return Dataset(card.name, "image", examples("train"), examples(*test), card)
