"""Checksums and duplicates."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anacp.datasets import SOURCES, Card, Dataset, Examples, duplicates, open_dataset, read_folder, verify
from anacp.datasets import registry as registry_module
from tests.datasets import layouts


def of_items(train: list[str], test: list[str]) -> Dataset:
    card = Card("made", "made", "text", "made")
    labels = np.array(["a"] * len(train)), np.array(["a"] * (len(test) - 1) + ["b"])
    return Dataset("made", "text", Examples(train, labels[0]), Examples(test, labels[1]), card)


def test_texts_are_compared_normalised() -> None:
    data = of_items(["Turn it  ON\n", "other", "ﬁne"], ["new", "turn it on", "fine"])
    found = duplicates(data)
    assert [(d.train, d.test, d.same_label) for d in found] == [((0,), (1,), True), ((2,), (2,), False)]
    assert all(len(d.digest) == 32 for d in found)


def test_images_are_compared_decoded(tmp_path: Path) -> None:
    first, second = (layouts.picture(row, form="PNG") for row in range(2))
    as_bitmap = layouts.picture(0, form="BMP")
    layouts.write({"train/cat/x.png": first, "test/cat/y.bmp": as_bitmap, "test/cat/z.png": second}, tmp_path)
    data = read_folder(tmp_path)
    steps: list[tuple[int, int]] = []
    found = duplicates(data, report=lambda step: steps.append((step.done, step.total)))
    assert [(d.train, d.test) for d in found] == [((0,), (0,))]
    assert steps == [(3, 3)]


def test_features_are_compared_by_row() -> None:
    data = open_dataset("sample:cifar100")
    assert duplicates(data) == []
    leaked = replace(
        data, test=Examples(np.vstack([data.test.items, data.train.items[7:8]]), np.append(data.test.labels, "x"))
    )
    assert [(d.train, d.test, d.same_label) for d in duplicates(leaked)] == [((7,), (2000,), False)]
    zeros = Examples(np.zeros((1, 3), np.float32), np.array(["a"]))
    minus = Examples(-np.zeros((1, 3), np.float32), np.array(["a"]))
    assert len(duplicates(replace(data, train=zeros, test=minus))) == 1


def test_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = layouts.write(layouts.cub(), tmp_path / "cub-200-2011" / "CUB_200_2011.tgz")
    (checked,) = verify("cub", root=tmp_path)
    assert (checked.path, checked.agrees) == (path, False)
    assert checked.expected == "97eceeb196236b17998738112f37df78"
    assert checked.found == hashlib.md5(path.read_bytes()).hexdigest()
    known = SOURCES["cub-200-2011"]
    right = replace(known, card=replace(known.card, checksums={path.name: checked.found}))
    monkeypatch.setitem(registry_module.SOURCES, "cub-200-2011", right)
    assert [checked.agrees for checked in verify("cub", root=tmp_path)] == [True]
    unpublished = replace(known, card=replace(known.card, checksums={}))
    monkeypatch.setitem(registry_module.SOURCES, "cub-200-2011", unpublished)
    assert [checked.agrees for checked in verify("cub", root=tmp_path)] == [None]
    assert list(verify("cifar100", root=tmp_path)) == []


@pytest.mark.parametrize("name", SOURCES)
def test_cards_are_filled_in(name: str) -> None:
    card = SOURCES[name].card
    assert card.name == name
    assert card.n_classes
    assert card.home.startswith("http")
    assert "not stated" not in (card.licence, card.citation)
    assert all(len(checksum) == 32 and int(checksum, 16) for checksum in card.checksums.values())
    files = {file for layout in SOURCES[name].layouts for part in layout.parts for file in part.files}
    assert set(card.checksums) <= files


def test_real_clinc(shared: Path) -> None:
    data = open_dataset("clinc150", root=shared / "data")
    assert data.sizes == dict(data.card.sizes)
    assert len(data.classes) == data.card.n_classes
    # Two queries were published under one intent for training and under another for testing.
    assert [found.same_label for found in duplicates(data)] == [False, False]


def test_real_images(shared: Path) -> None:
    data = open_dataset(f"folder:{shared / 'data' / 'cifar100_images.zip'}")
    assert data.sizes == {"train": 2000, "test": 1000}
    assert len(data.classes) == 100
    assert data.test.items[0].open().size == (32, 32)
