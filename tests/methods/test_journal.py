"""Every change is one step, and every step can be taken back, in memory and from a file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.errors import InputError, ModelFileError
from anacp.files import TensorFile
from anacp.learners import MODEL
from anacp.methods import Classifier, journal, taking_back
from tests.backbones.test_backbone import small
from tests.methods.inputs import pictures
from tests.methods.test_classifier import FEW, MORE, made, quick, same

CHANGES: dict[str, Callable[[Classifier], object]] = {
    "learn": lambda one: one.learn(*pictures(["green", "red"], MORE)),
    "forget": lambda one: one.forget(*pictures(["red"], FEW)),
    "relabel": lambda one: one.relabel(pictures(["red"], range(2))[0], "blue"),
    "relabel to a new class": lambda one: one.relabel(pictures(["red"], FEW)[0], "green"),
    "rename": lambda one: one.rename("red", "green"),
    "join": lambda one: one.join(["blue", "red"], "green"),
}


def kept(classifier: Classifier, path: Path) -> Classifier:
    """Return the classifier as a file gives it back."""
    classifier.save(path)
    return Classifier.load(path, backbone=small())


@pytest.mark.parametrize("learner", ["AnaCP", "NCM", "LinearProbe", "FeCAM"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_step_is_taken_back(change: str, learner: str, tmp_path: Path) -> None:
    before = made(learner)
    for stored in (False, True):
        model = made(learner)
        CHANGES[change](model)
        step = model.history.steps[-1]
        assert (len(model.history), step.what) == (2, change.split()[0])
        assert step.n > 0
        model = kept(model, tmp_path / "model") if stored else model
        assert [one.what for one in model.undo()] == [change.split()[0]]
        same(model, before)
        assert len(model.history) == 1
        CHANGES[change](model)  # and it goes on
        assert len(model.history) == 2


@pytest.mark.parametrize("learner", ["AnaCP", "NCM"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_step_that_was_undone_is_taken_again(change: str, learner: str, tmp_path: Path) -> None:
    changed = made(learner)
    CHANGES[change](changed)
    for stored in (False, True):
        model = made(learner)
        CHANGES[change](model)
        for _ in range(2):  # back and on, as often as one likes
            model.undo()
            model = kept(model, tmp_path / "model") if stored else model
            assert [one.what for one in model.redo()] == [change.split()[0]]
            model = kept(model, tmp_path / "model") if stored else model
            same(model, changed)
            assert [one.what for one in model.history] == [one.what for one in changed.history]
        model.undo()
        same(model, made(learner))


def test_redo_ends_with_the_next_change(tmp_path: Path) -> None:
    model = made("NCM")
    with pytest.raises(InputError, match="got none: `redo` takes back an `undo` until the next change"):
        model.redo()
    for change in ("learn", "rename", "join"):
        CHANGES[change](model) if change != "rename" else model.rename("green", "leaf")
    joined = model.predict_proba(pictures(["red"], FEW)[0])
    assert [one.what for one in model.undo(3)] == ["join", "rename", "learn"]
    with pytest.raises(InputError, match="from 1 to 3 undone steps to take again, got 4"):
        model.redo(4)
    model = kept(model, tmp_path / "model")
    assert [one.what for one in model.redo(3)] == ["learn", "rename", "join"]
    np.testing.assert_allclose(model.predict_proba(pictures(["red"], FEW)[0]), joined, atol=1e-5)
    model.undo(2)
    model.rename("blue", "sky")
    assert not model.history.undone
    with pytest.raises(InputError, match="got none"):
        model.redo()


def test_nothing_of_what_was_undone_stays_when_undo_is_given_up(tmp_path: Path) -> None:
    model = made()
    CHANGES["learn"](model)
    model.undo()
    model.save(tmp_path / "model")
    assert TensorFile(tmp_path / "model", MODEL).sizes("journal.undone.")
    model.give_up_undo()
    model.save(tmp_path / "model")
    assert not TensorFile(tmp_path / "model", MODEL).sizes("journal.")
    assert "undone" not in TensorFile(tmp_path / "model", MODEL).header["journal"]


def test_a_merge_is_taken_back(tmp_path: Path) -> None:
    one, two = made(), anacp.Classifier(small(), quick())
    two.learn(*pictures(["green"], FEW))
    merged = kept(one + two, tmp_path / "model")
    assert [step.what for step in merged.history] == ["learn", "merge"]
    both = one + two
    merged.undo()
    same(merged, one)
    kept(merged, tmp_path / "model").redo()
    merged.redo()
    same(merged, both)


def test_many_steps_are_taken_back_at_once(tmp_path: Path) -> None:
    model = made()
    changes: list[Callable[[Classifier], object]] = [
        CHANGES["learn"],
        lambda one: one.relabel(pictures(["green"], MORE)[0], "blue"),
        CHANGES["forget"],
        CHANGES["join"],
    ]
    for change in changes:
        change(model)
        model = kept(model, tmp_path / "model")
    assert [step.what for step in model.undo(4)] == ["join", "forget", "relabel", "learn"]
    same(model, made())
    with pytest.raises(InputError, match="from 1 to 1 steps"):
        model.undo(2)
    model.undo()
    assert model.n_examples == 0


def test_what_changes_nothing_is_no_step() -> None:
    model = made()
    model.learn(*pictures(["blue", "red"], FEW))
    model.forget(*pictures(["red"], range(8, 9)), on_unknown="skip")
    assert model.relabel(pictures(["red"], FEW)[0], "red") == 0
    assert len(model.history) == 1
    with pytest.raises(InputError, match="got one that was not: number 1"):
        model.relabel(pictures(["green"], FEW)[0], "red")
    with pytest.raises(InputError, match="To make two classes one, join them"):
        model.rename("blue", "red")
    assert len(model.history) == 1


def test_old_steps_give_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = made("NCM")
    one = model.history.steps[0].undo.nbytes // 8
    monkeypatch.setattr(journal, "MOST_BYTES", 3 * one)
    monkeypatch.setattr(journal, "MOST_STEPS", 5)
    for number in range(20, 28):
        model.learn(*pictures(["red"], range(number, number + 1)))
    assert [step.undo is not None for step in model.history] == [False, False, True, True, True]
    assert model.history.n_earlier == 4
    model = kept(model, tmp_path / "model")
    assert model.history.n_earlier == 4
    assert len(model.undo(3)) == 3
    with pytest.raises(InputError, match="Expected a step that can be taken back"):
        model.undo()
    assert model.n_examples == 8 + 5


def test_a_step_of_too_many_examples_keeps_the_model_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = made("NCM")
    monkeypatch.setattr("anacp.methods.taught.MOST_BYTES", 10)
    CHANGES["learn"](model)
    assert isinstance(model.history.steps[-1].undo, taking_back.Before)
    model = kept(model, tmp_path / "model")
    model.undo()
    same(model, made("NCM"))


def test_forgetting_for_good_keeps_nothing(tmp_path: Path) -> None:
    model = made()
    model.forget(*pictures(["red"], FEW), for_good=True)
    model.save(tmp_path / "model")
    assert not TensorFile(tmp_path / "model", MODEL).sizes("journal.")
    with pytest.raises(InputError, match="given up"):
        model.undo()


def test_a_journal_of_nonsense_is_refused(tmp_path: Path) -> None:
    model = made()
    model.history.steps[0].undo.codes[0, 1] = 7
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="step 0 of its journal"):
        Classifier.load(tmp_path / "model", backbone=small())


def test_joining_counts_no_example_twice() -> None:
    model = made()
    shown, _ = pictures(["red"], range(1))
    model.learn(shown, ["blue"])
    with pytest.raises(InputError, match="got 1 in several of them"):
        model.join(["blue", "red"], "blue")
    assert model.relabel(shown, "red") == 1  # it is one example of one class again
    same(model, made())


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    model = anacp.Classifier(small(), quick("NCM"))
    shown, labels = pictures(["blue", "red"], FEW)
    model.learn(shown, np.array([label == "red" for label in labels], np.int32))
    model.relabel(shown[:1], 7)
    model = kept(model, tmp_path / "model")
    model.undo()
    assert model.classes_.dtype == np.int32
