"""Moving, renaming, joining, the list of steps, and undo, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from anacp.methods import Classifier
from tests.backbones.models import needs_lite0
from tests.cli.conftest import anacp
from tests.methods.inputs import folder, picture

pytestmark = needs_lite0


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("photos")
    folder(base / "first", ["blue", "red"], range(4))
    folder(base / "more", ["green", "red"], range(4, 7))
    anacp("learn", base / "first", "--model", base / "model.anacp", "--learner", "NCM")
    return base


@pytest.fixture
def model(photos: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    path = tmp_path / "model.anacp"
    path.write_bytes((photos / "model.anacp").read_bytes())
    return path


def probabilities(model: Path) -> np.ndarray:
    return Classifier.load(model).predict_proba([picture("blue", 30), picture("red", 30)])


def test_every_change_is_listed_and_undone(photos: Path, model: Path, tmp_path: Path) -> None:
    before = probabilities(model)
    other = tmp_path / "other.anacp"
    folder(tmp_path / "yellow", ["yellow"], range(3))
    anacp("learn", tmp_path / "yellow", "--model", other, "--learner", "NCM")
    anacp("learn", photos / "more", "--model", model)
    assert "1 example moved to blue" in anacp("relabel", model, photos / "more" / "red" / "004.png", "--label", "blue")
    assert "red is called crimson now" in anacp("rename", model, "red", "crimson")
    assert "3 classes" in anacp("info", model)
    printed = anacp("join", model, "crimson", "green", "--into", "warm")
    assert "14 examples of 2 classes" in printed
    anacp("forget", model, photos / "first", "--on-unknown", "skip")
    anacp("merge", model, other, "-o", model)
    changed = probabilities(model)
    listed = json.loads(anacp("history", model, "--json"))["steps"]
    assert [step["what"] for step in listed] == ["learn", "learn", "relabel", "rename", "join", "forget", "merge"]
    assert listed[1]["source"] == str(photos / "more")
    lines = anacp("history", model).splitlines()
    assert len(lines) == 7
    assert "learn    6 examples of green, red from" in lines[1]
    for step in reversed(listed[1:]):
        undone = json.loads(anacp("undo", model, "--json"))["undone"]
        assert [one["what"] for one in undone] == [step["what"]]
    np.testing.assert_allclose(probabilities(model), before, atol=1e-5)
    lines = anacp("history", model).splitlines()
    assert lines[1:] == ["6 steps undone: `anacp redo` takes them again, until the next change"]
    assert [one["what"] for one in json.loads(anacp("history", model, "--json"))["undone"]][-1] == "learn"
    redone = json.loads(anacp("redo", model, "--steps", 5, "--json"))["redone"]
    assert [one["what"] for one in redone] == ["learn", "relabel", "rename", "join", "forget"]
    assert "redone: merge 3 examples of yellow" in anacp("redo", model)
    np.testing.assert_allclose(probabilities(model), changed, atol=1e-5)


def test_several_steps_at_once(photos: Path, model: Path) -> None:
    before = probabilities(model)
    anacp("learn", photos / "more", "--model", model)
    anacp("rename", model, "green", "leaf")
    printed = anacp("undo", model, "--steps", 2)
    assert [line.split()[1] for line in printed.splitlines()[:2]] == ["rename", "learn"]
    np.testing.assert_allclose(probabilities(model), before, atol=1e-5)


def test_what_cannot_be_done_leaves_the_file(photos: Path, model: Path, error_of: Callable[..., str]) -> None:
    before = model.read_bytes()
    assert "join them" in error_of("rename", model, "blue", "red")
    assert "got 'pink'" in error_of("join", model, "pink", "--into", "red")
    assert "learned before" in error_of("relabel", model, photos / "more" / "red" / "004.png", "--label", "blue")
    assert "Delete it instead" in error_of("undo", model)
    assert "from 1 to 1 steps" in error_of("undo", model, "--steps", 3)
    assert "until the next change" in error_of("redo", model)
    assert model.read_bytes() == before


def test_undo_is_given_up(photos: Path, model: Path, error_of: Callable[..., str]) -> None:
    anacp("learn", photos / "more", "--model", model)
    assert anacp("history", model, "--no-undo").count("cannot be undone any more") == 2
    assert "given up" in error_of("undo", model)
    folder(model.parent / "one", ["blue"], range(1))
    anacp("forget", model, model.parent / "one", "--for-good")
    assert anacp("history", model).count("cannot be undone any more") == 3


def test_mistakes_are_listed_and_shown(photos: Path, model: Path, tmp_path: Path) -> None:
    test = folder(tmp_path / "test", ["blue", "red"], range(20, 22))
    picture("blue", 40).save(test / "red" / "wrong.png")
    said = json.loads(anacp("evaluate", model, test, "--output", tmp_path / "report", "--json"))
    assert [(Path(one["input"]).name, one["label"], one["taken_for"]) for one in said["mistakes"]] == [
        ("wrong.png", "red", "blue")
    ]
    page = (tmp_path / "report" / "mistakes.html").read_text()
    assert "red taken for blue" in page
    assert page.count("data:image/jpeg") == 1
    assert "wrong.png: blue 0." in anacp("evaluate", model, test)


def test_suspects_and_outlooks(model: Path, tmp_path: Path) -> None:
    more = folder(tmp_path / "more", ["blue", "red"], range(50, 60))
    picture("blue", 70).save(more / "red" / "wrong.png")
    anacp("learn", more, "--model", model)
    found = json.loads(anacp("suspects", model, more, "--json"))
    assert found["examples"] == 21
    assert [(Path(one["input"]).name, one["label"], one["rather"]) for one in found["suspects"]] == [
        ("wrong.png", "red", "blue")
    ]
    assert "1 suspect among 21 examples" in anacp("suspects", model, more)
    picture("blue", 90).save(more / "blue" / "later.png")
    said = anacp("suspects", model, more)
    assert "left out: 1 example that" in said
    assert "1 suspect among 21 examples" in said
    lines = anacp("info", model, "--classes").splitlines()
    assert lines[-3].split()[:3] == ["examples", "sure", "one"]
    assert {line.split(",")[0].split()[-1] for line in lines[-2:]} == {"blue", "red"}
