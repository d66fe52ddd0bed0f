"""Any npz or parquet file of features and labels, and the samples that are shipped with the package."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.datasets.dataset import Card, Dataset, Examples, nothing
from anacp.datasets.splits import divide
from anacp.datasets.tables import ArrowTable
from anacp.errors import DataFileError, InputError, MissingDataError
from anacp.files import read_arrays
from anacp.samples import SAMPLES, load_sample

KEYS = (("xtr", "ytr", "xte", "yte"), ("x_train", "y_train", "x_test", "y_test"))


def read_npz(path: str | Path) -> Dataset:
    """Return the arrays xtr, ytr, xte, yte or x_train, y_train, x_test, y_test; `classes` names numbered labels.

    A text `backbone`, if there is one, names what made the features: so those of another can be told.
    """
    path = Path(path).expanduser()
    try:
        found = read_arrays(path)
    except FileNotFoundError as problem:
        raise MissingDataError(f"Expected an npz file at {path}, got none.") from problem
    keys = next((keys for keys in KEYS if set(keys) <= found.keys()), None)
    if keys is None:
        wanted = " or ".join(", ".join(keys) for keys in KEYS)
        raise DataFileError(f"Expected the arrays {wanted} in {path}, got {', '.join(found) or 'none'}.")
    x_train, y_train, x_test, y_test = (found[key] for key in keys)
    if "classes" in found:
        y_train, y_test = (_named(path, y, found["classes"]) for y in (y_train, y_test))
    train, test = Examples(_matrix(path, x_train), y_train), Examples(_matrix(path, x_test), y_test)
    card = Card(
        name=path.stem,
        title=f"Features in {path.name}",
        modality="features",
        split="as found",
        backbone=_backbone(path, found["backbone"]) if "backbone" in found else None,
    )
    return Dataset(path.stem, "features", train, test, card)


def read_parquet(path: str | Path, *, test_share: float = 0.2, seed: int = 0) -> Dataset:
    """Return the rows of a parquet file: a list column `features` or numeric columns, `label`, optionally `split`."""
    path = Path(path).expanduser()
    if not path.is_file():
        raise MissingDataError(f"Expected a parquet file at {path}, got none.")
    table = ArrowTable(path.stem, (path,))
    labels = table.labels(table.choose("label"))
    splits = table.values("split") if "split" in table.columns else None
    numbers = [name for name in table.columns if name not in ("label", "split")]
    if not numbers:
        raise DataFileError(f"Expected a column `features` or numeric columns in {path}, got none beside the label.")
    x = table.matrix(["features"] if "features" in numbers else numbers)
    examples = Examples(_matrix(path, x), labels)
    return divide(path, examples, splits, modality="features", test_share=test_share, seed=seed)


def read_sample(name: str) -> Dataset:
    """Return an embedded sample as a data set."""
    sample = load_sample(name)
    n_unknown, full_name = len(sample.x_unknown), f"sample:{name}"
    unknown = Examples(sample.x_unknown, np.full(n_unknown, "unknown")) if n_unknown else nothing()
    train, test = Examples(sample.x_train, sample.y_train), Examples(sample.x_test, sample.y_test)
    card = Card(
        name=full_name,
        title=sample.card["title"],
        modality="features",
        split="official, a part of each class" if name == "cifar100" else "official",
        n_classes=len(train.classes),
        sizes={"train": len(train), "test": len(test), **({"unknown": n_unknown} if n_unknown else {})},
        licence=f"data: {sample.card['data_licence']}; backbone: {sample.card['backbone_licence']}",
        citation=sample.card["data"],
        home="embedded in the package",
        backbone=SAMPLES[name],
    )
    return Dataset(full_name, "features", train, test, card, unknown=unknown)


def _backbone(path: Path, stated: NDArray[Any]) -> str:
    name = str(stated.item()) if stated.dtype.kind == "U" and stated.size == 1 else ""
    if not (name.isprintable() and 0 < len(name) <= 200):
        raise DataFileError(
            f"Expected the name of a network as `backbone` in {path}, got {stated.dtype} {stated.shape}. Store it as "
            "np.array('NAME'), or leave it out."
        )
    return name


def _named(path: Path, labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    if labels.dtype.kind not in "iu" or (len(labels) and not 0 <= labels.min() <= labels.max() < len(classes)):
        raise DataFileError(
            f"Expected labels that are whole numbers below {len(classes)}, the length of `classes` in {path}, got "
            "others. Leave `classes` out where the labels are names already."
        )
    return np.asarray(classes[labels])


def _matrix(path: Path, x: NDArray[np.generic]) -> NDArray[np.float32]:
    if x.ndim != 2 or not x.size or x.dtype.kind not in "fiu":
        raise DataFileError(f"Expected a matrix of numbers, one row an example, in {path}, got {x.dtype} {x.shape}.")
    if not np.isfinite(x).all():
        raise InputError(f"Expected finite features in {path}, got NaN or infinity. Leave those rows out.")
    return x.astype(np.float32)
