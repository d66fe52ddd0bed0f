"""Hugging Face copies, as save_to_disk folders and as parquet files."""

import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest

from anacp.datasets import TableImage, open_dataset
from anacp.errors import DataFileError
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
    SAVE[form]({"train": table}, tmp_path / "x" / "cub-200-2011")
    with pytest.raises(DataFileError, match=r"a split named test in .*, got train"):
        open_dataset("cub", root=tmp_path / "x")
    renamed = table.rename_columns(["photo", "label"])
    SAVE[form]({"train": renamed, "test": renamed}, tmp_path / "y" / "cub-200-2011")
    with pytest.raises(DataFileError, match=r"a column named image or img in .*, got photo, label"):
        open_dataset("cub", root=tmp_path / "y")
    hidden = layouts.table({"image": table["image"], "label": [-1] * 6}, {"label": layouts.class_label(["a", "b"])})
    SAVE[form]({"train": table, "test": hidden}, tmp_path / "w" / "cub-200-2011")
    with pytest.raises(DataFileError, match="class numbers from 0 to 1 in the column label"):
        open_dataset("cub", root=tmp_path / "w")
    folder = SAVE[form]({"train": table, "test": table}, tmp_path / "z" / "cub-200-2011")
    broken = next(path for path in sorted(folder.rglob("*")) if path.suffix in (".arrow", ".parquet"))
    broken.write_bytes(broken.read_bytes()[:100])
    with pytest.raises(DataFileError, match=f"truncated.*{broken.name}"):
        open_dataset("cub", root=tmp_path / "z")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    layouts.save_parquet({"train": images(6, 0, ["a"]), "test": images(6, 0, ["a"])}, tmp_path / "cub-200-2011")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import anacp.datasets as d, anacp.errors as e\n"
        f"try: d.open_dataset('cub', root={str(tmp_path)!r})\n"
        "except e.UnavailableError as problem: print(problem)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'anacp[parquet]'" in printed


def test_importing_the_room_needs_neither_pillow_nor_pyarrow() -> None:
    code = "import sys, anacp.datasets; print([name for name in ('PIL', 'pyarrow', 'scipy.io') if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
