"""Honest files of every kind, and all that is asked of what they hold."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import anacp
from anacp.adaptation import Adaptation, adapt
from anacp.encoders import Encoder
from anacp.files import TensorFile
from anacp.learners import MODEL, Learner
from anacp.methods import Classifier, TrainedMethod
from anacp.statistics import coding, is_coded
from anacp.testing import blobs
from tests.adaptation.models import TINY_LORA, examples
from tests.contract.every_learner import every_learner
from tests.fuzz.tiny import LABELS, SHOWN, TEXTS, network
from tests.methods.trained.models import FIRST, make, task

Use = Callable[[Path], Iterator[Any]]

X, CODES = blobs(n_classes=3, n_rows=6, n_features=4)
NAMES = np.array(["ant", "bee", "cow"])
MORE_X, MORE_CODES = blobs(n_classes=3, n_rows=2, n_features=4, seed=1)


@dataclass(frozen=True)
class Subject:
    """An honest file: its bytes, how it is used, and the answers that it gives."""

    name: str
    content: bytes
    use: Use  # yields one answer after the other
    answers: tuple[bytes, ...]
    learner: bool = False


def answer(*parts: Any) -> bytes:
    """Return a digest of an answer: equal means equal to the bit."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        array = np.asarray(part)
        texts = array.dtype.kind in "UO"  # equal labels are equal, whatever array holds them
        hashed.update(f"{array.shape} {'labels' if texts else array.dtype.kind} ".encode())
        hashed.update(repr(array.tolist()).encode() if texts else array.tobytes())
    return hashed.digest()


def subjects(folder: Path) -> list[Subject]:
    """Write and read back one file of each kind."""
    made = [
        *_learners(folder),
        *_coded(folder),
        _classifier(folder),
        _adapted(folder),
        _adaptation(folder),
        _trained(folder),
    ]
    return [Subject(name, path.read_bytes(), use, tuple(use(path)), "solved" in name) for name, path, use in made]


def _learners(folder: Path) -> Iterator[tuple[str, Path, Use]]:
    for number, learner in enumerate(every_learner()):
        if "n_projected" in learner.get_params():
            learner.set_params(n_projected=12)  # small files: a load takes a millisecond
        labels = NAMES if number % 2 else np.array([3, 5, 8])
        learner.partial_fit(X, labels[CODES])
        for state in ("unsolved", "solved"):
            path = folder / f"{number}-{type(learner).__name__}-{state}.anacp"
            if state == "solved":
                learner.solve(probabilities=True)
            learner.save(path)
            yield path.stem, path, lambda path, labels=labels: _ask(path, labels[MORE_CODES])


def _coded(folder: Path) -> Iterator[tuple[str, Path, Use]]:
    """Files in fewer bits, for which these would otherwise be too small."""
    for form, size in (("triangle", 12), ("directions", 60)):
        path = folder / f"coded-{form}-unsolved.anacp"
        with mock.patch.object(coding, "WORTHWHILE", 0):
            anacp.AnaCP(n_projected=size, n_heads=1).partial_fit(X, NAMES[CODES]).save(path)
        assert is_coded({name.rpartition(".")[2]: None for name in TensorFile(path, MODEL).sizes()})
        yield path.stem, path, lambda path: _ask(path, NAMES[MORE_CODES])


def _ask(path: Path, more: np.ndarray) -> Iterator[bytes]:
    model = anacp.load(path)
    assert isinstance(model, Learner)
    yield answer(model.classes_, model.predict(X), model.scores(X))
    yield answer(model.predict_proba(X))
    model.partial_fit(MORE_X, more)  # what was left in the file is read now
    yield answer(model.classes_, model.scores(X))


def _classifier(folder: Path) -> tuple[str, Path, Use]:
    model = Classifier(Encoder(network(folder)), anacp.NCM())
    model.learn(TEXTS, LABELS)
    model.solve()
    model.save(folder / "classifier.anacp")
    return "classifier", folder / "classifier.anacp", lambda path: _ask_classifier(path, folder)


def _adapted(folder: Path) -> tuple[str, Path, Use]:
    adaptation = Adaptation.load(_adaptation(folder)[1])
    model = Classifier(Encoder(network(folder), adaptation=adaptation), anacp.SLDA())
    model.learn(TEXTS, LABELS)
    model.save(folder / "adapted.anacp")
    return "adapted classifier", folder / "adapted.anacp", lambda path: _ask_classifier(path, folder)


def _ask_classifier(path: Path, folder: Path) -> Iterator[bytes]:
    model = Classifier.load(path, backbone=network(folder))
    x = network(folder).encode(SHOWN) if model.encoder.adaptation is None else model.features(SHOWN)
    yield answer(model.classes_, model.n_examples, model.is_known(TEXTS, LABELS), model.learner.scores(x))
    yield answer(model.learner.predict_proba(x))
    model.learn(["a red house"], ["red"])
    yield answer(model.classes_, model.n_examples, model.learner.scores(x))


def _adaptation(folder: Path) -> tuple[str, Path, Use]:
    path = folder / "adaptation.safetensors"
    if not path.exists():
        adapt(network(folder), *examples("text", n=12), recipe=TINY_LORA).save(path)

    def use(path: Path) -> Iterator[bytes]:
        yield answer(Adaptation.load(path).apply(network(folder)).encode(SHOWN))

    return "adaptation", path, use


def _trained(folder: Path) -> tuple[str, Path, Use]:
    model = make("L2P", network(folder), epochs=1)
    model.learn(*task(FIRST, n=12))
    model.save(folder / "trained.anacp")

    def use(path: Path) -> Iterator[bytes]:
        read = TrainedMethod.load(path, backbone=network(folder))
        yield answer(read.classes_, read.scores(SHOWN))

    return "trained", folder / "trained.anacp", use
