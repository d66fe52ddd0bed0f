"""The data sets by name, and one door to them all."""

import difflib
from pathlib import Path

from anacp.datasets.card import Card
from anacp.datasets.cars import CARS, CARS_190
from anacp.datasets.cifar100 import CIFAR100
from anacp.datasets.clinc150 import CLINC150, read_json
from anacp.datasets.cub import CUB
from anacp.datasets.dataset import Dataset
from anacp.datasets.features import read_npz, read_parquet, read_sample
from anacp.datasets.folder import read_folder
from anacp.datasets.imagenet_r import IMAGENET_R
from anacp.datasets.source import Source, data_folder
from anacp.datasets.texts import read_texts
from anacp.datasets.tiny_imagenet import TINY_IMAGENET
from anacp.errors import UnknownNameError
from anacp.samples.load import SAMPLES

__all__ = ["SOURCES", "open_dataset", "source"]

SOURCES: dict[str, Source] = {
    known.card.name: known for known in (CIFAR100, CLINC150, CUB, IMAGENET_R, CARS, CARS_190, TINY_IMAGENET)
}
READERS = {".csv": read_texts, ".jsonl": read_texts, ".npz": read_npz, ".parquet": read_parquet}


def source(name: str) -> Source:
    """Return a known data set by name, whatever its capitals and hyphens; a near miss gets the right one."""
    spellings = {_folded(known): entry for entry in SOURCES.values() for known in (entry.card.name, *entry.aliases)}
    if _folded(name) in spellings:
        return spellings[_folded(name)]
    near = difflib.get_close_matches(_folded(name), spellings, n=1)
    hint = f"Did you mean {spellings[near[0]].card.name!r}? " if near else ""
    raise UnknownNameError(
        f"Unknown data set {name!r}. {hint}Known: {', '.join(sorted(SOURCES))}, "
        f"{', '.join(f'sample:{known}' for known in SAMPLES)}; or folder:PATH, or the path of a "
        f"{', '.join(sorted((*READERS, '.json')))} file."
    )


def open_dataset(name_or_path: str | Path, *, root: str | Path | None = None) -> Dataset:
    """Return a data set, chosen by name or path; images are opened later, when they are looked at.

    Parameters
    ----------
    name_or_path : str or path
        A known name (`SOURCES`), "sample:NAME" for an embedded sample, "folder:PATH" for a folder or archive of class
        folders of images, or the path of a .csv or .jsonl file of texts, an .npz or .parquet file of features, a .json
        file in CLINC150's layout, or a folder.
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
    return source(text).open(data_folder(root))


def _folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
