"""What is interrupted: work of every kind that writes, the state it leaves, and what must not be left beside it."""

import io
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import anacp
from anacp.cli.app import main
from anacp.encoders import Encoder, FeatureStore
from anacp.experiments import ScenarioSettings, Specification, run
from anacp.learners import Learner
from anacp.methods import Classifier
from anacp.testing import blobs
from tests.adaptation.models import WORDS
from tests.experiments.test_killed import comparable
from tests.fuzz.subjects import answer
from tests.fuzz.tiny import LABELS, NAME, TEXTS, network
from tests.reports.made import write_features

HIDDEN = (".part", ".lock", ".removed")


@dataclass(frozen=True)
class Work:
    """Something that writes below a folder, which `old` is a copy of at the beginning."""

    name: str
    old: Path  # what is there before; copied for each attempt
    act: Callable[[Path], None]  # raises an error, or leaves with SystemExit as a command does
    state: Callable[[Path], Any]  # of what is there now; raises where that is damaged
    before: Any  # states, and the names of all files in the end
    after: Any
    names: frozenset[str]
    between: bool = False  # there are whole states between the old and the new one

    def begin(self, folder: Path) -> Path:
        """Return a folder as it is before the work."""
        return shutil.copytree(self.old, folder, symlinks=True)

    def damage(self, folder: Path) -> str | None:
        """Return what is wrong with what is there after the work was interrupted."""
        try:
            found = self.state(folder)
        except Exception as problem:
            return f"the state cannot be read ({type(problem).__name__}: {str(problem)[:200]})"
        return None if self.between or found in (self.before, self.after) else "neither the old state nor the new one"

    def unfinished(self, folder: Path) -> str | None:
        """Return what is wrong with what is there after the work was done again, in peace."""
        if damage := self.damage(folder):
            return damage
        if self.state(folder) != self.after:
            return "not the new state"
        left = sorted(names(folder) - self.names)
        return f"left behind: {', '.join(left)}" if left else None


def names(folder: Path) -> frozenset[str]:
    """Return all files and folders, those named by their content by one name."""
    found = (path.relative_to(folder) for path in folder.rglob("*"))
    return frozenset(str(path.parent / "shard") if path.suffix == ".safetensors" else str(path) for path in found)


def command(folder: Path, *arguments: object) -> None:
    """Run a command of the command line in this process, with a home of its own."""
    os.environ["ANACP_HOME"] = str(folder / "home")
    sys.argv = ["anacp", *map(str, arguments)]
    with redirect_stdout(io.StringIO()):
        main()


def works(folder: Path) -> list[Work]:
    """Return every kind of work, made ready below `folder`."""
    network(folder)
    made = [_learn(folder), _forget(folder), _merge(folder), _save(folder), _extraction(folder), _run(folder)]
    return [_measured(folder, *one) for one in made]


def _measured(
    folder: Path, name: str, act: Callable[[Path], None], state: Callable[[Path], Any], between: bool = False
) -> Work:
    """Do the work once in peace, to know what comes of it."""
    old, new = folder / name / "old", folder / name / "new"
    shutil.copytree(old, new, symlinks=True)
    before, errors = state(old), io.StringIO()
    with redirect_stderr(errors):
        try:
            act(new)
        except SystemExit as left:
            assert not left.code, errors.getvalue()
    return Work(name, old, act, state, before, state(new), names(new), between)


def _home(folder: Path, name: str) -> Path:
    old = folder / name / "old"
    (old / "home").mkdir(parents=True)
    (old / "home" / "weights").symlink_to(folder / "weights")
    return old


def _table(path: Path, rows: slice) -> Path:
    pairs = list(zip(TEXTS, LABELS, strict=True))[rows]
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in pairs))
    return path


def _classifier(path: Path, folder: Path, rows: slice) -> None:
    model = Classifier(Encoder(network(folder)), anacp.NCM())
    model.learn(TEXTS[rows], LABELS[rows])
    model.solve().save(path)


def _model_state(path: Path, folder: Path) -> tuple[int, bytes]:
    model = Classifier.load(path, backbone=network(folder))
    x = np.random.default_rng(0).normal(size=(5, 24))
    return model.n_examples, answer(model.classes_, model.learner.scores(x), model.learner.predict_proba(x))


def _learn(folder: Path) -> tuple[Any, ...]:
    old = _home(folder, "learn")
    _classifier(old / "model.anacp", folder, slice(0, 5))
    _table(old / "more.csv", slice(3, 9))

    def act(place: Path) -> None:
        command(place, "learn", place / "more.csv", "--model", place / "model.anacp", "--backbone", NAME)

    return "learn", act, lambda place: _model_state(place / "model.anacp", folder)


def _forget(folder: Path) -> tuple[Any, ...]:
    old = _home(folder, "forget")
    _classifier(old / "model.anacp", folder, slice(0, 9))
    _table(old / "less.csv", slice(2, 6))

    def act(place: Path) -> None:
        command(place, "forget", place / "model.anacp", place / "less.csv", "--on-unknown", "skip")

    return "forget", act, lambda place: _model_state(place / "model.anacp", folder)


def _merge(folder: Path) -> tuple[Any, ...]:
    old = _home(folder, "merge")
    for name, rows in (("one", slice(0, 4)), ("two", slice(4, 9)), ("both", slice(0, 2))):
        _classifier(old / f"{name}.anacp", folder, rows)

    def act(place: Path) -> None:
        command(place, "merge", place / "one.anacp", place / "two.anacp", "--output", place / "both.anacp")

    return "merge", act, lambda place: _model_state(place / "both.anacp", folder)


def _save(folder: Path) -> tuple[Any, ...]:
    old = folder / "save" / "old"
    old.mkdir(parents=True)
    x, y = blobs(n_classes=8, n_rows=40, n_features=40)
    before = anacp.AnaCP(n_projected=150, n_heads=1).partial_fit(x[:200], y[:200])
    before.save(old / "model.anacp")
    after = (before + anacp.AnaCP(n_projected=150, n_heads=1).partial_fit(x[200:], y[200:])).solve()

    def state(place: Path) -> bytes:
        model = anacp.load(place / "model.anacp")
        assert isinstance(model, Learner)
        return answer(model.classes_, model.scores(x[:5]))

    return "save", lambda place: after.save(place / "model.anacp"), state


def _extraction(folder: Path) -> tuple[Any, ...]:
    (folder / "extraction" / "old").mkdir(parents=True)
    texts = [f"{WORDS[i % 9]} {WORDS[i // 9 % 9]} {WORDS[i // 81 % 9]} {i}" for i in range(1200)]

    def act(place: Path) -> None:
        Encoder(network(folder)).encode(texts, store=FeatureStore(place / "store"))

    def state(place: Path) -> int:
        entries = FeatureStore(place / "store").entries()
        problems = [
            problem for entry in entries if (entry.folder / "card.json").exists() for problem in entry.problems()
        ]
        assert not problems, problems[0]
        return sum(entry.n_rows for entry in entries if (entry.folder / "card.json").exists())

    return "extraction", act, state, True


def _run(folder: Path) -> tuple[Any, ...]:
    old = folder / "run" / "old"
    old.mkdir(parents=True)
    features = write_features(folder / "run" / "blobs.npz", n_classes=6)
    parameters = {"n_projected": 40, "n_replay": 10}
    specification = Specification(features, "AnaCP", parameters, scenario=ScenarioSettings(tasks=3), seed=1)

    def act(place: Path) -> None:
        for _ in run(specification, place / "run", checkpoint_seconds=0):
            pass

    def state(place: Path) -> Any:
        return comparable(place / "run") if (place / "run" / "results.json").exists() else None

    return "run", act, state
