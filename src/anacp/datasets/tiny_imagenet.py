"""TinyImageNet, whose validation images serve as the test set: the labels of its test images are not public."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.datasets.sources import Layout, Source, SourcePart, tables
from anacp.datasets.tables import read_image_tables
from anacp.datasets.trees import open_tree

TRAINING_IMAGE = re.compile(r"train/(n\d{8})/images/[^/]+$")


def read_archive(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read train/CLASS/images/ and val/images/ with val/val_annotations.txt."""
    tree = open_tree(paths[0]).below("wnids.txt")
    matches = [match for name in tree.names if (match := TRAINING_IMAGE.match(name))]
    train = Examples([tree.file(match.string) for match in matches], np.array([match[1] for match in matches]))
    annotations = tree.table("val/val_annotations.txt")  # name, class, and a box that is not used
    images = [tree.file(f"val/images/{name}") for name in annotations]
    test = Examples(images, np.array([rest.split()[0] for rest in annotations.values()]))
    return Dataset(card.name, "image", train, test, card)


TINY_IMAGENET = Source(
    Card(
        name="tiny-imagenet",
        title="Tiny ImageNet",
        modality="image",
        split="official; the validation images are the test set",
        n_classes=200,
        sizes={"train": 100_000, "test": 10_000},
        licence="none stated; images under ImageNet's terms, non-commercial research and education",
        citation="Y. Le and X. Yang, Tiny ImageNet Visual Recognition Challenge, Stanford CS 231N, 2015",
        home="http://cs231n.stanford.edu/tiny-imagenet-200.zip",
        checksums={"tiny-imagenet-200.zip": "90528d7ca1a48142e341f4ef8d21d0de"},
    ),
    (
        Layout((SourcePart(("tiny-imagenet-200.zip",), "tiny-imagenet-200", "wnids.txt"),), read_archive),
        tables(partial(read_image_tables, test=("valid", "validation", "val"))),
    ),
    aliases=("tinyimagenet", "tiny-imagenet-200"),
)
