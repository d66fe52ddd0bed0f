"""CUB-200-2011."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.datasets.sources import Layout, Source, SourcePart, tables
from anacp.datasets.tables import read_image_tables
from anacp.datasets.trees import open_tree
from anacp.errors import DataFileError


def read_archive(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read images.txt, classes.txt, image_class_labels.txt and train_test_split.txt, which name rows by number."""
    tree = open_tree(paths[0]).below("images.txt")
    files, classes = tree.table("images.txt"), tree.table("classes.txt")
    class_of, is_train = tree.table("image_class_labels.txt"), tree.table("train_test_split.txt")
    if not files.keys() == class_of.keys() == is_train.keys() or not set(class_of.values()) <= classes.keys():
        raise DataFileError(
            f"Expected a class and a split for each of the {len(files)} images in {tree.path}, got {len(class_of)} and "
            f"{len(is_train)}. Download it again."
        )

    def examples(flag: str) -> Examples:
        rows = [row for row in files if is_train[row] == flag]
        images = [tree.file(f"images/{files[row]}") for row in rows]
        return Examples(images, np.array([classes[class_of[row]] for row in rows]))

    return Dataset(card.name, "image", examples("1"), examples("0"), card)


CUB = Source(
    Card(
        name="cub-200-2011",
        title="Caltech-UCSD Birds-200-2011",
        modality="image",
        split="official (train_test_split.txt)",
        n_classes=200,
        sizes={"train": 5_994, "test": 5_794},
        licence="images belong to their authors; for non-commercial research and education",
        citation="C. Wah et al., The Caltech-UCSD Birds-200-2011 Dataset, CNS-TR-2011-001, 2011",
        home="https://data.caltech.edu/records/65de6-vp158",
        checksums={"CUB_200_2011.tgz": "97eceeb196236b17998738112f37df78"},
    ),
    (
        Layout((SourcePart(("CUB_200_2011.tgz", "CUB_200_2011.tar.gz"), "CUB_200_2011", "images.txt"),), read_archive),
        tables(partial(read_image_tables, numbered=True)),  # as the published names are
    ),
    aliases=("cub200", "cub"),
)
