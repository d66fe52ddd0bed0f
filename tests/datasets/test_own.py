"""The user's own: folders, CSV, JSON Lines, npz, parquet, and the embedded samples."""

import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import anacp
from anacp.datasets import ImageFile, open_dataset, read_folder, read_npz, read_parquet, read_texts
from anacp.datasets.splits import split_per_class
from anacp.errors import AnacpError, DataFileError, InputError, MissingDataError, ParameterError
from tests.datasets import layouts


def folder(counts: dict[str, int]) -> layouts.Files:
    return {f"{place}/{row}.png": layouts.picture(row, form="PNG") for place, n in counts.items() for row in range(n)}


@pytest.mark.parametrize("place", ["pets", "pets.zip", "pets.tar", "pets.tgz"])
def test_class_folders_are_split_by_class(place: str, tmp_path: Path) -> None:
    files = folder({"cat": 10, "dog": 5, "one": 1}) | {"cat/notes.txt": b"", ".git/x/y.png": b"", "readme.png": b""}
    path = layouts.write(files, tmp_path / place)
    data = open_dataset(f"folder:{path}")
    assert [np.sum(data.train.labels == c) for c in ("cat", "dog", "one")] == [8, 4, 1]
    assert [np.sum(data.test.labels == c) for c in ("cat", "dog", "one")] == [2, 1, 0]
    assert data.train.items[0].open().size == (8, 8)
    again = {image.name for image in read_folder(path).test.items}
    assert again == {image.name for image in data.test.items}
    assert again != {image.name for image in read_folder(path, seed=1).test.items}
    assert np.sum(read_folder(path, test_share=0.5).test.labels == "cat") == 5


def test_a_new_class_moves_no_other(tmp_path: Path) -> None:
    layouts.write(folder({"cat": 10, "dog": 10}), tmp_path / "a")
    layouts.write(folder({"cat": 10, "dog": 10, "bee": 10}), tmp_path / "b")
    few, more = ({image.name for image in open_dataset(tmp_path / name).test.items} for name in "ab")
    assert few == {name for name in more if not name.startswith("bee")}


def test_train_and_test_folders_are_kept(tmp_path: Path) -> None:
    layouts.write(folder({"train/cat": 3, "train/dog": 2, "val/cat": 1, "test/dog": 2}), tmp_path)
    data = open_dataset(f"folder:{tmp_path}")
    assert data.sizes == {"train": 5, "test": 2, "validation": 1}
    assert data.test.items[0].name == "test/dog/0.png"
    assert isinstance(data.test.items[0], ImageFile)
    layouts.write(folder({"train/cat": 3, "val/cat": 1}), tmp_path / "second")
    assert open_dataset(f"folder:{tmp_path / 'second'}").sizes == {"train": 3, "test": 1}


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="nowhere"):
        open_dataset(f"folder:{tmp_path / 'nowhere'}")
    (tmp_path / "photo.png").write_bytes(layouts.picture(0))
    with pytest.raises(DataFileError, match="class folders with images"):
        open_dataset(f"folder:{tmp_path}")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(MissingDataError, match="archive"):
        open_dataset(f"folder:{tmp_path / 'notes.txt'}")


ROWS = [(f"text {i}", "yes" if i % 2 else "no", "test" if i > 5 else "train") for i in range(8)]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("with_split", [True, False])
def test_texts(form: str, with_split: bool, tmp_path: Path) -> None:
    path, names = tmp_path / f"queries.{form}", ("text", "label", "split")[: 3 if with_split else 2]
    if form == "csv":
        lines = [",".join(names), *(",".join(f'"{cell}"' for cell in row[: len(names)]) for row in ROWS)]
    else:
        lines = [json.dumps(dict(zip(names, row, strict=False))) for row in ROWS]
    path.write_text("\n".join(lines) + "\n")
    data = open_dataset(path)
    assert data.modality == "text"
    assert data.sizes == {"train": 6, "test": 2}
    if with_split:
        assert list(data.test.items) == ["text 6", "text 7"]
        assert data.test.labels.tolist() == ["no", "yes"]
    else:
        assert sorted(data.test.labels) == ["no", "yes"]
        assert "seed 0" in data.card.split


def test_texts_keep_numbers_in_json_and_commas_in_csv(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x", "label": 3}\n\n{"text": "y", "label": 3}\n')
    assert open_dataset(tmp_path / "a.jsonl").train.labels.dtype.kind == "i"
    (tmp_path / "a.csv").write_text('\ufefflabel,text\n3,"one, two\nthree"\n3,four\n', encoding="utf-8")
    data = read_texts(tmp_path / "a.csv", test_share=0.5)
    assert sorted([*data.train.items, *data.test.items]) == ["four", "one, two\nthree"]
    assert data.train.labels.tolist() == ["3"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "txet,label\nx,1\n", "If 'txet' is meant, say --text-column 'txet'"),
        ("a.csv", "utterance,kind\nx,1\n", "If 'kind' is meant, say --label-column 'kind'"),
        ("a.csv", "text\nx\n", "Say which is meant: --label-column NAME"),
        ("a.csv", "", "got none"),
        ("a.csv", "text,label\nx\n", r"1 row that cannot be used: line 2 \(no label\)"),
        ("a.csv", "text,label,split\nx,1,train\ny,1,later\n", "in row 2 of .*, got 'later'"),
        ("a.csv", "text,label,split\nx,1,train\n", "rows of the split 'test'"),
        ("a.csv", 'text,label\n"x,1\n', "Expected a CSV file"),
        ("a.jsonl", '{"text": "x", "label": 1}\n{"text": ', "line 2"),
        ("a.jsonl", "[1, 2]", "got list"),
        ("a.json", '{"train": [["x", "y"]]', "JSON file"),
        ("a.json", '{"train": [["x", "y"]], "val": 3}', "under 'val'"),
    ],
)
def test_tables_of_text_that_cannot_be_used(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataFileError, match=message) as caught:
        open_dataset(tmp_path / name)
    assert name in str(caught.value)


def test_clinc_in_its_published_layout(tmp_path: Path) -> None:
    for place in ("data_full.json", "clinc150.json", "clinc150/data_full.json"):
        root = tmp_path / place.replace("/", "_")
        (root / place).parent.mkdir(parents=True)
        (root / place).write_text(json.dumps(layouts.clinc()))
        data = open_dataset("clinc150", root=root)
        assert data.sizes == {"train": 10, "test": 4, "validation": 2, "unknown": 1}
        assert open_dataset(root / place).sizes == data.sizes


@pytest.mark.parametrize("keys", [("xtr", "ytr", "xte", "yte"), ("x_train", "y_train", "x_test", "y_test")])
def test_npz(keys: tuple[str, ...], tmp_path: Path) -> None:
    x, y = np.arange(12, dtype=np.float16).reshape(6, 2), np.array([0, 1, 1, 0, 1, 0])
    arrays = dict(zip(keys, (x[:4], y[:4], x[4:], y[4:]), strict=True))
    np.savez(tmp_path / "plain.npz", **arrays)
    data = open_dataset(tmp_path / "plain.npz")
    assert data.train.items.dtype == np.float32
    np.testing.assert_array_equal(data.test.items, x[4:])
    assert data.test.labels.tolist() == [1, 0]
    np.savez(tmp_path / "named.npz", **arrays, classes=np.array(["a", "b"]))
    assert read_npz(tmp_path / "named.npz").test.labels.tolist() == ["b", "a"]


GOOD = {"xtr": np.eye(2), "ytr": [0, 1], "xte": np.eye(2), "yte": [0, 1]}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"xtr": np.eye(2)}, "got xtr"),
        (GOOD | {"ytr": np.array(["a", 1], object)}, "plain arrays"),
        (GOOD | {"xtr": np.ones(2)}, "matrix of numbers"),
        (GOOD | {"ytr": [0]}, "one label for each of the 2"),
        (GOOD | {"xte": np.full((2, 2), np.nan)}, "finite"),
        (GOOD | {"classes": ["only"]}, "whole numbers below 1"),
    ],
)
def test_npz_that_cannot_be_used(arrays: dict, message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(AnacpError, match=message):
        open_dataset(tmp_path / "bad.npz")


def test_npz_that_is_none(tmp_path: Path) -> None:
    np.savez(tmp_path / "half.npz", **GOOD)
    layouts.truncated(tmp_path / "half.npz")
    with open(tmp_path / "single.npz", "wb") as file:
        np.save(file, np.eye(2))
    for name, message in {"half": "truncated", "single": "of another kind", "none": "got none"}.items():
        with pytest.raises(AnacpError, match=message):
            open_dataset(tmp_path / f"{name}.npz")


@pytest.mark.parametrize("form", ["list", "columns"])
def test_parquet_features(form: str, tmp_path: Path) -> None:
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    columns = {"features": x.tolist()} if form == "list" else {"a": x[:, 0], "b": x[:, 1]}
    labels = ["u", "v"] * 5
    pyarrow.parquet.write_table(pyarrow.table({**columns, "label": labels}), tmp_path / "drawn.parquet")
    assert read_parquet(tmp_path / "drawn.parquet", test_share=0.4).sizes == {"train": 6, "test": 4}
    splits = ["train"] * 7 + ["test"] * 3
    pyarrow.parquet.write_table(pyarrow.table({**columns, "label": labels, "split": splits}), tmp_path / "told.parquet")
    data = open_dataset(tmp_path / "told.parquet")
    np.testing.assert_array_equal(data.test.items, x[7:])
    assert data.test.labels.tolist() == labels[7:]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"features": [[1.0], [1.0, 2.0]]}, "lists of one length"),
        ({"title": ["a", "b"]}, "matrix of numbers"),
        ({}, "none beside the label"),
    ],
)
def test_parquet_that_cannot_be_used(columns: dict, message: str, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table(columns | {"label": [1, 2]}), tmp_path / "bad.parquet")
    with pytest.raises(DataFileError, match=message):
        open_dataset(tmp_path / "bad.parquet")


@pytest.mark.parametrize("name", ["clinc150", "cifar100"])
def test_samples(name: str) -> None:
    data, sample = open_dataset(f"sample:{name}"), anacp.load_sample(name)
    np.testing.assert_array_equal(data.train.items, sample.x_train)
    np.testing.assert_array_equal(data.test.labels, sample.y_test)
    assert len(data.unknown) == len(sample.x_unknown)
    assert dict(data.card.sizes) == data.sizes
    assert data.card.n_classes == len(data.classes)


def test_rows_can_be_taken() -> None:
    data = open_dataset("sample:cifar100")
    some = data.test.take([3, 1])
    np.testing.assert_array_equal(some.items, data.test.items[[3, 1]])
    masked = data.test.take(data.test.labels == "apple")
    assert set(masked.labels) == {"apple"}
    assert len(masked) == 20


def test_splits_are_refused_where_they_cannot_be() -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        split_per_class(["a"], test_share=1, role="x")
    with pytest.raises(InputError, match="one label for each"):
        anacp.datasets.Examples(["a"], np.array([]))
