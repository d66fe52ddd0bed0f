"""Hugging Face copies, as save_to_disk folders and as parquet files."""

import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest

from anacp.datasets import TableImage, open_dataset
from anacp.errors import DataFileError, UnavailableError
from tests.datasets import layouts

SAVE = {"save_to_disk": layouts.save_to_disk, "parquet": layouts.save_parquet}
both = pytest.mark.parametrize("form", SAVE)


def images(
    n_rows: int, first: int, names: list[str], *, image: str = "image", label: str = "label", paths: bool = True
):
    contents = [layouts.picture(first + row, form="PNG") for row in range(n_rows)]
    stored = [f"picture_{first + row}.png" if paths else None for row in range(n_rows)]
    columns = {image: layouts.image_column(contents, stored), label: [row % len(names) for row in range(n_rows)]}
    return layouts.table(columns, {image: {"_type": "Image"}, label: layouts.class_label(names)})


@both
def test_cifar(form: str, tmp_path: Path) -> None:
    tables = {
        split: images(n, 100 * n, layouts.CIFAR_NAMES, image="img", label="fine_label", paths=False)
        for split, n in (("train", 9), ("test", 5))
    }
    SAVE[form](tables, tmp_path / "cifar100")
    data = open_dataset("cifar100", root=tmp_path)
    assert data.sizes == {"train": 9, "test": 5}
    assert data.train.labels.tolist() == layouts.CIFAR_NAMES * 3
    for row, image in enumerate(data.train.items):
        assert isinstance(image, TableImage)
        assert image.read() == layouts.picture(900 + row, form="PNG")
        assert image.name == f"train/{row:06}"
    assert data.test.items[4].open().size == (8, 8)
    assert len({image.digest() for image in [*data.train.items, *data.test.items]}) == 14


@both
def test_names_come_from_the_stored_paths(form: str, tmp_path: Path) -> None:
    splits = {"train": images(6, 0, ["n02", "n01"]), "valid": images(4, 50, ["n02", "n01"])}
    SAVE[form](splits, tmp_path / "tiny-imagenet")
    data = open_dataset("tiny-imagenet", root=tmp_path)
    assert data.test.labels.tolist() == ["n02", "n01"] * 2
    assert [image.name for image in data.test.items] == [f"valid/picture_{50 + row}.png" for row in range(4)]


@both
def test_numbered_classes_keep_their_published_order(form: str, tmp_path: Path) -> None:
    names = [f"Car {letter}" for letter in "zyx"]
    SAVE[form]({"train": images(6, 0, names), "test": images(4, 50, names)}, tmp_path / "stanford-cars")
    data = open_dataset("stanford-cars", root=tmp_path)
    assert data.classes.tolist() == ["001.Car z", "002.Car y", "003.Car x"]
    names = ["001.Black_footed_Albatross", "002.Laysan_Albatross"]
    SAVE[form]({"train": images(6, 0, names), "test": images(4, 50, names)}, tmp_path / "cub-200-2011")
    assert open_dataset("cub", root=tmp_path).classes.tolist() == names


@both
def test_imagenet_r_in_one_split(form: str, tmp_path: Path) -> None:
    contents = [layouts.picture(row) for row in range(20)]
    column = layouts.image_column(contents, [f"art_{row}.jpg" for row in range(20)])
    table = layouts.table({"image": column, "wnid": ["n01443537", "n01484850"] * 10})
    SAVE[form]({"test": table}, tmp_path / "imagenet-r")
    data = open_dataset("imagenet-r", root=tmp_path)
    assert data.sizes == {"train": 16, "test": 4}
    assert sorted(image.read() for image in [*data.train.items, *data.test.items]) == sorted(contents)


@both
def test_clinc(form: str, tmp_path: Path) -> None:
    names = ["weather", "oos", "balance"]
    rows = layouts.clinc()

    def table(*keys: str) -> pyarrow.Table:
        pairs = [pair for key in keys for pair in rows[key]]
        columns = {"text": [text for text, _ in pairs], "intent": [names.index(intent) for _, intent in pairs]}
        return layouts.table(columns, {"intent": layouts.class_label(names)})

    splits = {"train": table("train", "oos_train"), "validation": table("val"), "test": table("test", "oos_test")}
    SAVE[form](splits, tmp_path / "clinc150" / "plus")
    data = open_dataset("clinc150", root=tmp_path)
    assert data.sizes == {"train": 10, "test": 4, "validation": 2, "unknown": 1}
    assert data.classes.tolist() == ["balance", "weather"]
    assert data.unknown.items == ["what is love"]


@both
def test_what_is_wrong_is_said(form: str, tmp_path: Path) -> None:
    table = images(6, 0, ["a", "b"])
    renamed = table.rename_columns(["photo", "label"])
    hidden = layouts.table({"image": table["image"], "label": [-1] * 6}, {"label": layouts.class_label(["a", "b"])})
    for place, splits, message in (
        ("x", {"train": table}, r"a split named test in .*, got train"),
        ("y", {"train": renamed, "test": renamed}, r"a column named image or img in .*, got photo, label"),
        ("w", {"train": table, "test": hidden}, "class numbers from 0 to 1 in the column label"),
    ):
        SAVE[form](splits, tmp_path / place / "cub-200-2011")
        with pytest.raises(DataFileError, match=message):
            open_dataset("cub", root=tmp_path / place)
    folder = SAVE[form]({"train": table, "test": table}, tmp_path / "z" / "cub-200-2011")
    broken = next(path for path in sorted(folder.rglob("*")) if path.suffix in (".arrow", ".parquet"))
    broken.write_bytes(broken.read_bytes()[:100])
    with pytest.raises(DataFileError, match=f"truncated.*{broken.name}"):
        open_dataset("cub", root=tmp_path / "z")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layouts.save_parquet({"train": images(6, 0, ["a"]), "test": images(6, 0, ["a"])}, tmp_path / "cub-200-2011")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnavailableError, match=r"pip install 'anacp\[parquet\]'"):
        open_dataset("cub", root=tmp_path)


def test_importing_what_makes_features_is_light() -> None:
    heavy = ("PIL", "pyarrow", "scipy.io", "transformers", "onnxruntime")
    code = f"import sys, anacp.datasets, anacp.encoders; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
