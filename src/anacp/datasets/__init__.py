"""Where examples and labels come from, in their official splits. Images are opened when they are looked at."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.datasets.archives import ARCHIVE_SUFFIXES, TarImage, ZipImage
    from anacp.datasets.checks import Duplicate, Verified, duplicates, verify
    from anacp.datasets.columns import Columns
    from anacp.datasets.dataset import Card, Dataset, Examples, Labelled, LeftOut
    from anacp.datasets.features import read_npz, read_parquet, read_sample
    from anacp.datasets.folder import read_folder
    from anacp.datasets.labelled import read_labelled
    from anacp.datasets.registry import SOURCES, feature_examples, open_dataset
    from anacp.datasets.rows import RowTable, is_table
    from anacp.datasets.sources import Source, data_folder
    from anacp.datasets.tables import TableImage
    from anacp.datasets.texts import read_texts
    from anacp.datasets.unlabelled import Unlabelled, read_unlabelled
    from anacp.items import ArrayImage, ImageFile, LazyImage

__all__ = [
    "ARCHIVE_SUFFIXES",
    "SOURCES",
    "ArrayImage",
    "Card",
    "Columns",
    "Dataset",
    "Duplicate",
    "Examples",
    "ImageFile",
    "Labelled",
    "LazyImage",
    "LeftOut",
    "RowTable",
    "Source",
    "TableImage",
    "TarImage",
    "Unlabelled",
    "Verified",
    "ZipImage",
    "data_folder",
    "duplicates",
    "feature_examples",
    "is_table",
    "open_dataset",
    "read_folder",
    "read_labelled",
    "read_npz",
    "read_parquet",
    "read_sample",
    "read_texts",
    "read_unlabelled",
    "verify",
]

__getattr__ = door(__name__)
