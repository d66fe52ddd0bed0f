"""Stanford Cars, with all 196 classes or the 190 that AnaCP's released code keeps."""

import io
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.datasets.sources import Layout, Source, SourcePart, tables
from anacp.datasets.tables import read_image_tables
from anacp.datasets.trees import Tree, open_tree
from anacp.errors import DataFileError
from anacp.items import EncodedImage, ImageFile

KEPT = 190


def read_archives(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read cars_train and cars_test, named by the annotations of the development kit and of the test labels.

    Class names start with their number from 001, as CUB's do, so that sorted names are in the published order.
    """
    train_images, test_images, kit, test_annotations = paths
    devkit = open_tree(kit).below("cars_meta.mat")
    listed = _variable(devkit.file("cars_meta.mat"), "class_names")
    names = np.array([f"{number:03}.{name}" for number, name in enumerate(listed, start=1)])
    train = _examples(open_tree(train_images), devkit.file("cars_train_annos.mat"), names)
    test = _examples(open_tree(test_images), ImageFile(test_annotations), names)
    return _kept(Dataset(card.name, "image", train, test, card))


def read_tables(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read a copy; its class names get their numbers."""
    return _kept(read_image_tables(card, paths, numbered=True))


def _variable(file: EncodedImage, name: str) -> NDArray[Any]:
    from scipy.io import loadmat

    try:
        return np.atleast_1d(loadmat(io.BytesIO(file.read()), squeeze_me=True, variable_names=[name])[name])
    except (KeyError, ValueError, TypeError, NotImplementedError, EOFError, OSError, zlib.error) as problem:
        if isinstance(problem, DataFileError):
            raise
        raise DataFileError(
            f"Expected the variable {name!r} in a MATLAB file, got something else: {file.place()} ({problem!r}). "
            "Download it again."
        ) from problem


def _examples(tree: Tree, annotations: EncodedImage, names: NDArray[np.str_]) -> Examples:
    rows = _variable(annotations, "annotations")
    if rows.dtype.names is None or not {"fname", "class"} <= set(rows.dtype.names):
        raise DataFileError(f"Expected annotations with fname and class, got {rows.dtype}: {annotations.place()}.")
    images = tree.below(str(rows["fname"][0]))
    codes = rows["class"].astype(np.intp) - 1  # published from 1
    return Examples([images.file(str(name)) for name in rows["fname"]], names[codes])


def _kept(data: Dataset) -> Dataset:
    if data.card.n_classes != KEPT:
        return data

    def some(examples: Examples) -> Examples:
        numbers = [int(label[:3]) - 1 if isinstance(label, str) else label for label in examples.labels.tolist()]
        return examples.take(np.array(numbers) < KEPT)

    return replace(data, train=some(data.train), test=some(data.test))


CARS = Source(
    Card(
        name="stanford-cars",
        title="Stanford Cars",
        modality="image",
        split="official",
        n_classes=196,
        sizes={"train": 8_144, "test": 8_041},
        licence="none stated; for research",
        citation="J. Krause et al., 3D Object Representations for Fine-Grained Categorization, 3dRR-13, 2013",
        home="https://ai.stanford.edu/~jkrause/cars/car_dataset.html",
        checksums={
            "cars_train.tgz": "065e5b463ae28d29e77c1b4b166cfe61",
            "cars_test.tgz": "4ce7ebf6a94d07f1952d94dd34c4d501",
            "cars_test_annos_withlabels.mat": "b0a2b23655a3edd16d84508592a98d10",
        },
    ),
    (
        Layout(
            (
                SourcePart(("cars_train.tgz",), "cars_train", "*.jpg"),
                SourcePart(("cars_test.tgz",), "cars_test", "*.jpg"),
                SourcePart(("car_devkit.tgz",), "devkit", "cars_meta.mat"),
                SourcePart(("cars_test_annos_withlabels.mat",)),
            ),
            read_archives,
        ),
        tables(read_tables),
    ),
    aliases=("cars", "cars196"),
)
CARS_190 = replace(
    CARS,
    card=replace(
        CARS.card,
        name="stanford-cars-190",
        title="Stanford Cars, the first 190 classes",
        split="official, labels below 190 (counted from 0) as in AnaCP's released code",
        n_classes=KEPT,
        sizes={},
    ),
    aliases=("cars190",),
    variant_of="stanford-cars",
)
