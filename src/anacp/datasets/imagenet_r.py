"""ImageNet-R, which is published without a split."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.datasets.sources import Layout, Source, SourcePart, tables
from anacp.datasets.splits import split_per_class
from anacp.datasets.tables import LABELS, open_split
from anacp.datasets.trees import named, open_tree
from anacp.errors import DataFileError
from anacp.items import LazyImage

IN_CLASS_FOLDER = re.compile(r"(?:^|(?<=/))(n\d{8})/[^/]+\.(?:jpe?g|png)$", re.IGNORECASE)


def read_archive(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read class folders named by WordNet number, in name order."""
    tree = open_tree(paths[0])
    matches = [match for name in tree.names if (match := IN_CLASS_FOLDER.search(name))]
    if not matches:
        raise DataFileError(f"Expected class folders such as n01443537/ in {tree.path}, got none. Download it again.")
    images = [named(tree.file(match.string), match[0]) for match in matches]
    return _split(card, images, np.array([match[1] for match in matches]))


def read_tables(card: Card, paths: Sequence[Path]) -> Dataset:
    """Read a copy that has all images in one split."""
    table = open_split(paths[0], "test", "train")
    labels, images = table.labels(table.choose("wnid", *LABELS)), table.images(table.choose("image", "img"))
    order = np.array(sorted(range(len(labels)), key=lambda row: (str(labels[row]), images[row].name)), np.intp)
    return _split(card, [images[row] for row in order], labels[order])


def _split(card: Card, images: Sequence[LazyImage], labels: NDArray[Any]) -> Dataset:
    everything = Examples(images, labels)
    train, test = split_per_class(labels, test_share=0.2, role="imagenet-r/split")
    return Dataset(card.name, "image", everything.take(train), everything.take(test), card)


IMAGENET_R = Source(
    Card(
        name="imagenet-r",
        title="ImageNet-R(endition)",
        modality="image",
        split="none published; 80/20 of each class in name order, drawn with seed 0 and role imagenet-r/split/CLASS",
        n_classes=200,
        sizes={"all": 30_000},
        licence="see the home page; the images belong to their authors",
        citation="D. Hendrycks et al., The Many Faces of Robustness, ICCV 2021",
        home="https://github.com/hendrycks/imagenet-r",
        checksums={"imagenet-r.tar": "a61312130a589d0ca1a8fca1f2bd3337"},
    ),
    (Layout((SourcePart(("imagenet-r.tar",), "imagenet-r", "n[0-9]*"),), read_archive), tables(read_tables)),
    aliases=("imagenetr",),
)
