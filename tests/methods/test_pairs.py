"""Examples from tables, data sets, loaders and pairs; answers as a table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from torch.utils.data import DataLoader

import anacp
import datasets
from anacp.errors import InputError
from tests.backbones.test_backbone import small
from tests.methods.inputs import folder, picture, pictures
from tests.methods.test_classifier import FEW, quick, same

LABELS = ["blue", "red"]


def rows(path: Path) -> list[tuple[str, str]]:
    return [(str(file), file.parent.name) for file in sorted(folder(path, LABELS, FEW).rglob("*.png"))]


def as_dataset(path: Path) -> datasets.Dataset:
    shown, labels = pictures(LABELS, FEW)
    columns = {"image": shown, "label": [LABELS.index(label) for label in labels]}
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=LABELS)})
    return datasets.Dataset.from_dict(columns, features=features)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda path: pd.DataFrame(rows(path), columns=["Path", "Class"]),
    "pandas, encoded": lambda path: pd.DataFrame(
        [({"bytes": Path(one).read_bytes(), "path": one}, label) for one, label in rows(path)],
        columns=["image", "label"],
    ),
    "polars": lambda path: pl.DataFrame(rows(path), schema=["file", "label"], orient="row"),
    "pairs": rows,
    "generator": lambda path: (pair for pair in rows(path)),
    "records": lambda path: [{"image": one, "label": label, "more": 1} for one, label in rows(path)],
    "loader": lambda path: DataLoader(rows(path), batch_size=3, shuffle=False),
    "data set": as_dataset,
}


@pytest.mark.parametrize("source", SOURCES)
def test_examples_come_from_anywhere(source: str, tmp_path: Path) -> None:
    expected, model = (anacp.Classifier(small(), quick("NCM")) for _ in range(2))
    expected.learn(*pictures(LABELS, FEW))
    learned = model.learn(SOURCES[source](tmp_path))
    assert (learned.n_new, learned.new_classes) == (8, LABELS)
    shown = [picture(label, 30) for label in LABELS]
    np.testing.assert_allclose(model.predict_proba(shown), expected.predict_proba(shown), atol=1e-6)
    assert model.learn(SOURCES[source](tmp_path)).n_new == 0


def test_columns_can_be_named(tmp_path: Path) -> None:
    table = pd.DataFrame(rows(tmp_path), columns=["where", "what"])
    model = anacp.Classifier(small(), quick("NCM"))
    with pytest.raises(InputError, match=r"got where, what. Say which they are: columns="):
        model.learn(table)
    with pytest.raises(InputError, match="Did you mean 'where'"):
        model.learn(table, columns=("wher", "what"))
    assert model.learn(table, columns=("where", "what")).n_new == 8


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("hello", "got str"),
        (["hello", "you"], "Expected pairs of input and label, got str"),
        ([("a", "b", "c")], "got tuple of 3"),
        ([("a", "b"), ("c", None)], "got none in row 2"),
        (pd.DataFrame({"text": ["a", "b"], "label": ["x", np.nan]}), "got none in row 2"),
        (3, "got int"),
    ],
)
def test_what_has_no_labels_is_refused(bad: Any, message: str) -> None:
    model = anacp.Classifier(small(), quick("NCM"))
    with pytest.raises(InputError, match=message):
        model.learn(bad)
    assert model.n_examples == 0


def test_answers_are_a_table(tmp_path: Path) -> None:
    model = anacp.Classifier(small(), quick("NCM"))
    model.learn(*pictures(["blue", "green", "red"], FEW))
    paths = [path for path, _ in rows(tmp_path)]
    found = model.answer(paths)
    assert found.labels.tolist() == ["blue"] * 4 + ["red"] * 4
    assert (found.ranks[:, 0] == [1, 1, 1, 1, *found.ranks[4:, 0]]).all()
    assert sorted(found.ranks[0].tolist()) == [1, 2, 3]
    lines = str(found).splitlines()
    assert lines[0].split() == ["input", "label", "next", "then"]
    assert len(lines) == 9
    assert "blue 0." in lines[1]
    table = pd.DataFrame(found.rows(2))
    assert table.columns.tolist() == ["input", "label", "probability", "label 2", "probability 2"]
    assert table["input"].tolist() == paths
    many = model.answer(paths * 4)
    assert str(many).splitlines()[-1] == "… and 12 more rows"
    assert str(model.answer([picture("red", 1)])).splitlines()[1].startswith("input 1")


def test_the_same_model_as_from_lists(tmp_path: Path) -> None:
    one, two = (anacp.Classifier(small(), quick()) for _ in range(2))
    one.learn(rows(tmp_path))
    two.learn([path for path, _ in rows(tmp_path)], [label for _, label in rows(tmp_path)])
    same(one, two)
