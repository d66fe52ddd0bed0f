import json
from pathlib import Path

import pytest

from anacp.datasets import SOURCES
from tests.cli.conftest import anacp
from tests.datasets import layouts


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    layouts.write(layouts.cub(), tmp_path / "cub-200-2011" / "CUB_200_2011.tgz")
    monkeypatch.setenv("ANACP_DATA", str(tmp_path))
    return tmp_path


def test_list(root: Path) -> None:
    printed = anacp("datasets", "list")
    assert str(root / "cub-200-2011" / "CUB_200_2011.tgz") in printed
    assert "tiny-imagenet-200.zip" in printed
    listed = {row["name"]: row for row in json.loads(anacp("datasets", "list", "--json"))["datasets"]}
    assert set(listed) == {*SOURCES, "sample:cifar100", "sample:clinc150"}
    assert listed["cub-200-2011"]["paths"] == [str(root / "cub-200-2011" / "CUB_200_2011.tgz")]
    assert listed["cub-200-2011"]["advice"] == ""
    assert listed["cifar100"]["paths"] == []
    assert str(root / "cifar100") in listed["cifar100"]["advice"]


def test_card() -> None:
    assert "CC-BY 3.0" in anacp("datasets", "card", "clinc150")
    card = json.loads(anacp("datasets", "card", "CUB", "--json"))
    assert card["sizes"] == {"train": 5994, "test": 5794}
    assert json.loads(anacp("datasets", "card", "clinc150", "--json"))["checksums"] == "not published"
    assert json.loads(anacp("datasets", "card", "sample:clinc150", "--json"))["n_classes"] == 150


@pytest.mark.usefixtures("root")
def test_check_finds_what_differs() -> None:
    printed = anacp("datasets", "check", "cub-200-2011", code=1)
    assert "DIFFERS from the published file" in printed
    assert "train: 4, DIFFERS from the published 5,994" in printed
    report = json.loads(anacp("datasets", "check", "cub-200-2011", "--json", code=1))
    assert report["passed"] is False
    assert report["files"][0]["agrees"] is False


def test_check_passes_and_lists_duplicates(tmp_path: Path) -> None:
    assert "0 contents" in anacp("datasets", "check", "sample:cifar100")
    (tmp_path / "a.csv").write_text("text,label,split\nHello,x,train\nhello,y,test\nbye,x,test\n")
    assert "different labels" in anacp("datasets", "check", str(tmp_path / "a.csv"))
    report = json.loads(anacp("datasets", "check", str(tmp_path / "a.csv"), "--json"))
    assert report["passed"] is True
    assert [(found["train"], found["test"]) for found in report["duplicates"]] == [([0], [0])]
