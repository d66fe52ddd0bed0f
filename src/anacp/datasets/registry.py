"""The data sets by name, and one door to them all."""

from pathlib import Path

import numpy as np

from anacp.datasets.cars import CARS, CARS_190
from anacp.datasets.cifar100 import CIFAR100
from anacp.datasets.clinc150 import CLINC150, read_json
from anacp.datasets.cub import CUB
from anacp.datasets.dataset import Card, Dataset, Examples
from anacp.datasets.features import read_npz, read_parquet, read_sample
from anacp.datasets.folder import read_folder
from anacp.datasets.imagenet_r import IMAGENET_R
from anacp.datasets.sources import Source, data_folder
from anacp.datasets.texts import read_texts
from anacp.datasets.tiny_imagenet import TINY_IMAGENET
from anacp.errors import InputError
from anacp.names import Names
from anacp.samples import SAMPLES

READERS = {
    **dict.fromkeys((".csv", ".tsv", ".jsonl", ".xlsx"), read_texts),
    ".npz": read_npz,
    ".parquet": read_parquet,
}
_ALL = (CIFAR100, CLINC150, CUB, IMAGENET_R, CARS, CARS_190, TINY_IMAGENET)
SOURCES: Names[Source] = Names(
    "data set",
    {known.card.name: known for known in _ALL},
    aliases={alias: known.card.name for known in _ALL for alias in known.aliases},
    besides=f"{', '.join(f'sample:{known}' for known in SAMPLES)}; or folder:PATH, or the path of a "
    f"{', '.join(sorted((*READERS, '.json')))} file",
)


def open_dataset(name_or_path: str | Path, *, root: str | Path | None = None) -> Dataset:
    """Return a data set, chosen by name or path; images are opened later, when they are looked at.

    Parameters
    ----------
    name_or_path : str or path
        A known name (`SOURCES`), "sample:NAME" for an embedded sample, "folder:PATH" for a folder or archive of class
        folders of images, or the path of a .csv, .tsv, .jsonl or .xlsx file of texts, an .npz or .parquet file of
        features, a .json file in CLINC150's layout, or a folder.
    root : path, optional
        Where known data sets lie; else $ANACP_DATA, else ~/.cache/anacp/data.
    """
    text = str(name_or_path)
    kind, _, rest = text.partition(":")
    if kind == "sample" and rest:
        return read_sample(rest)
    if kind == "folder" and rest:
        return read_folder(rest)
    path = Path(text).expanduser()
    if path.suffix.lower() in READERS:
        return READERS[path.suffix.lower()](path)
    if path.suffix.lower() == ".json" and path.is_file():
        return read_json(Card(path.stem, f"Texts in {path.name}", "text", "as found"), [path])
    if isinstance(name_or_path, Path) or "/" in text or text.startswith("~"):
        return read_folder(path)
    return SOURCES.find(text).open(data_folder(root))


def feature_examples(name_or_path: str | Path, *, split: str | None = None) -> tuple[Examples, str | None]:
    """Return labelled rows of features, and what made them, where that is known.

    They are the test rows of a data set of features, or those of another split, or "all" of them.
    """
    data = open_dataset(name_or_path)
    if data.modality != "features":
        raise InputError(f"Expected a file of features, such as .npz, got {data.modality}s: {name_or_path}.")
    if split == "all":
        both = np.concatenate([np.asarray(data.train.items), np.asarray(data.test.items)])
        return Examples(both, np.concatenate([data.train.labels, data.test.labels])), data.card.backbone
    if split not in (None, "train", "test"):
        raise InputError(f"Expected the split 'train', 'test' or 'all', got {split!r}. Choose one.")
    return (data.train if split == "train" else data.test), data.card.backbone
