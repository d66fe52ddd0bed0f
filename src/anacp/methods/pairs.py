"""Inputs with their labels from wherever people have them: tables, data sets, loaders, pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from anacp.datasets import Columns
from anacp.errors import InputError
from anacp.items import HeldImage, LazyImage, content_hash
from anacp.names import nearest

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, eq=False)
class RowImage(LazyImage):
    """A picture of a data set, decoded when it is looked at."""

    dataset: Any
    column: str
    row: int

    @property
    def name(self) -> str:  # type: ignore[override]
        """Which row it is."""
        return f"row {self.row}"

    def open(self) -> Image:
        """Return the picture."""
        found: Image = self.dataset[self.row][self.column]
        return found

    def digest(self) -> str:
        """Return a hash of mode, size and pixels."""
        picture = self.open()
        return content_hash(f"{picture.mode} {picture.size}".encode(), picture.tobytes())


def labelled_pairs(data: Any, columns: tuple[str, str] | None) -> tuple[list[Any], ArrayLike]:
    """Return inputs and labels of a table, a data set, a loader of batches, or pairs.

    Parameters
    ----------
    data : DataFrame, Dataset, DataLoader or iterable
        A table of pandas or polars; a data set of Hugging Face; a loader of torch that gives batches of inputs and of
        labels; anything that gives pairs (input, label) or records with one of each.
    columns : (str, str), optional
        Which column has the inputs, which the labels; found by their names if left out.
    """
    if isinstance(data, str | bytes) or not isinstance(data, Iterable):
        raise InputError(
            f"Expected inputs with labels, got {type(data).__name__}. Give labels as well, a table with two columns, "
            "or pairs (input, label)."
        )
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):  # pandas and polars
        source, target = _columns(list(data.columns), columns)
        inputs = [_picture(value, row) for row, value in enumerate(data[source], 1)]
        labels = list(data[target])
    elif getattr(data, "column_names", None):  # Hugging Face
        inputs, labels = _of_dataset(data, columns)
    else:
        pairs = list(_batched(data) if _is_loader(data) else _paired(data, columns))
        inputs, labels = [one for one, _ in pairs], [label for _, label in pairs]
    for row, label in enumerate(labels):
        if label is None or (isinstance(label, float) and np.isnan(label)):
            raise InputError(f"Expected a label in every row, got none in row {row + 1}. Fill it in, or leave it out.")
    return inputs, labels


def _columns(found: Sequence[Any], stated: tuple[str, str] | None) -> tuple[Any, Any]:
    """Return the columns of inputs and labels."""
    if stated is not None:
        for name in stated:
            if name not in found:
                near = nearest(name, [str(one) for one in found])
                hint = f" Did you mean {near!r}?" if near else ""
                raise InputError(f"Expected a column {name!r}, got {', '.join(map(str, found))}.{hint}")
        return stated
    named = {str(name): name for name in reversed(found)}
    texts, paths, target = (Columns().find(role, list(named), "a table") for role in ("text", "path", "label"))
    source = texts or paths
    if source is None or target is None:
        raise InputError(
            "Expected a column of inputs (such as text, sentence, image, path) and one of labels (such as label, "
            f"class), got {', '.join(map(str, found))}. Say which they are: columns=(INPUTS, LABELS)."
        )
    return named[source], named[target]


def _of_dataset(data: Any, columns: tuple[str, str] | None) -> tuple[list[Any], list[Any]]:
    """Return inputs and labels of a data set of Hugging Face, class numbers as the names they stand for."""
    source, target = _columns(data.column_names, columns)
    features = getattr(data, "features", None) or {}
    pictures = type(features.get(source)).__name__ == "Image" and hasattr(data, "__len__")
    if pictures:
        labels = list(data[target])
        inputs: list[Any] = [RowImage(data, source, row) for row in range(len(data))]
    else:
        rows = [(row[source], row[target]) for row in data]
        inputs, labels = [one for one, _ in rows], [label for _, label in rows]
    names = getattr(features.get(target), "names", None)
    return inputs, labels if names is None else [names[label] if label is not None else None for label in labels]


def _picture(value: Any, row: int) -> Any:
    """Return what a cell is about: an encoded file, by itself or as Hugging Face keeps it, or what the cell is."""
    content, path = (value.get("bytes"), value.get("path")) if isinstance(value, dict) else (value, None)
    if isinstance(content, bytes):
        return HeldImage(str(path or f"row {row}"), content)
    return path if isinstance(value, dict) and path else value


def _is_loader(data: Any) -> bool:
    names = {(cls.__module__.rpartition(".")[0], cls.__name__) for cls in type(data).mro()}
    return ("torch.utils.data", "DataLoader") in names  # without importing it


def _batched(loader: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of a loader's batches (inputs, labels)."""
    for batch in loader:
        inputs, labels = _two(batch)
        if len(inputs) != len(labels):
            raise InputError(f"Expected one label for each input of a batch, got {len(inputs)} and {len(labels)}.")
        plain = labels.tolist() if hasattr(labels, "tolist") else labels
        yield from zip(inputs, plain, strict=True)


def _paired(data: Iterable[Any], columns: tuple[str, str] | None) -> Iterator[tuple[Any, Any]]:
    """Yield pairs, or those that records hold."""
    rows = iter(data)
    first = list(islice(rows, 1))
    if first and isinstance(first[0], dict):
        source, target = _columns(list(first[0]), columns)
        yield from ((row[source], row[target]) for row in (*first, *rows))
    else:
        yield from (_two(row) for row in (*first, *rows))


def _two(row: Any) -> tuple[Any, Any]:
    if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
        shown = f"{type(row).__name__} of {len(row)}" if hasattr(row, "__len__") else type(row).__name__
        raise InputError(f"Expected pairs of input and label, got {shown}. Give (input, label), or labels apart.")
    return row[0], row[1]
