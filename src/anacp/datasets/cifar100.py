"""CIFAR-100 in its python and binary archives."""

import io
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.datasets.sources import Layout, Source, SourcePart, tables
from anacp.datasets.tables import read_image_tables
from anacp.datasets.trees import Tree, open_tree
from anacp.errors import DataFileError
from anacp.items import ArrayImage

SIDE = 32
ADMITTED = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],  # how numpy itself rebuilds an array
}


class _ArraysOnly(pickle.Unpickler):
    """Reads the published pickles, and runs nothing.

    A pickle can do harm only through the functions and classes that it names. This one admits numpy's arrays and
    dtypes and refuses every other name, so that all a file can make is numbers, texts, lists and arrays of them.
    """

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ADMITTED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no list of images needs")
        return ADMITTED[module, name]


def read_python(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read cifar-100-python: pickled dictionaries of `data`, `fine_labels`, `filenames`."""
    tree = open_tree(paths[0]).below("meta")
    names = np.asarray(_unpickled(tree, "meta", "fine_label_names")[0])

    def examples(split: str) -> Examples:
        data, codes, files = _unpickled(tree, split, "data", "fine_labels", "filenames")
        return _examples(np.asarray(data), np.asarray(codes), names, [f"{split}/{file}" for file in files])

    return Dataset(card.name, "image", examples("train"), examples("test"), card)


def read_binary(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read cifar-100-binary: rows of a coarse label, a fine label and the pixels, one byte each."""
    tree = open_tree(paths[0]).below("fine_label_names.txt")
    names = np.array([row[0] for row in tree.lines("fine_label_names.txt")])

    def examples(split: str) -> Examples:
        content, width = tree.file(f"{split}.bin").read(), 2 + 3 * SIDE * SIDE
        if not content or len(content) % width:
            raise DataFileError(
                f"Expected rows of {width} bytes in {split}.bin of {tree.path}, got {len(content)} bytes."
            )
        rows = np.frombuffer(content, np.uint8).reshape(-1, width)
        return _examples(rows[:, 2:], rows[:, 1], names, [f"{split}/{row:05}" for row in range(len(rows))])

    return Dataset(card.name, "image", examples("train"), examples("test"), card)


def _unpickled(tree: Tree, name: str, *keys: str) -> list[Any]:
    try:
        content = _ArraysOnly(io.BytesIO(tree.file(name).read()), encoding="latin1").load()
        return [content[key] for key in keys]
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        if isinstance(problem, DataFileError):
            raise
        raise DataFileError(
            f"Expected CIFAR-100's {', '.join(keys)} in {name} of {tree.path}, got a file of another kind "
            f"({problem!r}). Download it again."
        ) from problem


def _examples(data: NDArray[Any], codes: NDArray[Any], names: NDArray[np.str_], files: list[str]) -> Examples:
    if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != 3 * SIDE * SIDE or len(data) != len(codes):
        raise DataFileError(
            f"Expected {len(codes)} CIFAR-100 images of {3 * SIDE * SIDE} bytes, got {data.dtype} {data.shape}."
        )
    pixels = data.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)  # (n, 32, 32, 3), a view
    return Examples([ArrayImage(image, file) for image, file in zip(pixels, files, strict=True)], names[codes])


CIFAR100 = Source(
    Card(
        name="cifar100",
        title="CIFAR-100",
        modality="image",
        split="official",
        n_classes=100,
        sizes={"train": 50_000, "test": 10_000},
        licence="none stated; published for research",
        citation="A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009",
        home="https://www.cs.toronto.edu/~kriz/cifar.html",
        checksums={
            "cifar-100-python.tar.gz": "eb9058c3a382ffc7106e4002c42a8d85",
            "cifar-100-binary.tar.gz": "03b5dce01913d631647c71ecec9e9cb8",
        },
    ),
    (
        Layout((SourcePart(("cifar-100-python.tar.gz",), "cifar-100-python", "meta"),), read_python),
        Layout((SourcePart(("cifar-100-binary.tar.gz",), "cifar-100-binary", "fine_label_names.txt"),), read_binary),
        tables(read_image_tables),
    ),
    aliases=("cifar-100",),
)
