"""Where examples and labels come from, in their official splits. Images are opened when they are looked at."""

from anacp.datasets.archives import TarImage, ZipImage
from anacp.datasets.card import Card
from anacp.datasets.dataset import Dataset, Examples
from anacp.datasets.duplicates import Duplicate, duplicates
from anacp.datasets.features import read_npz, read_parquet, read_sample
from anacp.datasets.folder import image_files, read_folder
from anacp.datasets.images import ArrayImage, ImageFile, LazyImage
from anacp.datasets.labelled import is_text_file, read_labelled
from anacp.datasets.registry import SOURCES, open_dataset, source
from anacp.datasets.source import Source, data_folder
from anacp.datasets.tables import TableImage
from anacp.datasets.texts import read_texts
from anacp.datasets.verify import Verified, verify

__all__ = [
    "SOURCES",
    "ArrayImage",
    "Card",
    "Dataset",
    "Duplicate",
    "Examples",
    "ImageFile",
    "LazyImage",
    "Source",
    "TableImage",
    "TarImage",
    "Verified",
    "ZipImage",
    "data_folder",
    "duplicates",
    "image_files",
    "is_text_file",
    "open_dataset",
    "read_folder",
    "read_labelled",
    "read_npz",
    "read_parquet",
    "read_sample",
    "read_texts",
    "source",
    "verify",
]
