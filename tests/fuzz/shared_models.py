"""Models that threads share: what each batch is, how it enters and leaves, and what a serial model would answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import anacp
from anacp.encoders import Encoder
from anacp.errors import AnacpError
from anacp.learners import Learner
from anacp.methods import Classifier
from tests.adaptation.models import WORDS
from tests.fuzz.histories import Contents, Read
from tests.fuzz.tiny import network

N_FEATURES, PER_THREAD, THREADS = 6, 2, 8
OTHER = THREADS * PER_THREAD  # the batch that only merging brings
TOLERANCE = 2e-3  # of the largest score, or of 1: float32, in another order of addition (anacp.testing has the same)
CLEAR = 1e-2  # a label is compared where it wins by as much


class SharedModel:
    """One model, its batches, and what it answers in peace."""

    name: str
    value: Any = None  # of the parameter that changes
    values: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self._answers: dict[tuple[str, Contents, Any], np.ndarray] = {}

    def plausible(self, read: Read, contents: Contents) -> bool:
        """Say whether a read can be of these batches, as far as it shows without solving."""
        if read.kind != "labels":
            return bool(read.answer.shape[1] == 3 + len(contents))
        return set(read.answer.tolist()) <= set(self.classes(contents).tolist())

    def fits(self, read: Read, contents: Contents, value: Any) -> bool:
        """Say whether a read fits what a serial model of these batches answers."""
        scores = self.answer("scores", contents, value)
        if read.kind == "labels":
            best = np.sort(scores, axis=1)
            clear = best[:, -1] - best[:, -2] > CLEAR * max(1.0, np.abs(scores).max())
            return bool((read.answer == self.classes(contents)[scores.argmax(1)])[clear].all())
        expected = scores if read.kind == "scores" else self.answer(read.kind, contents, value)
        if read.answer.shape != expected.shape:
            return False
        room = TOLERANCE * max(1.0, float(np.abs(expected).max()))
        return bool(np.allclose(read.answer, expected, rtol=0, atol=room))

    def answer(self, kind: str, contents: Contents, value: Any) -> np.ndarray:
        key = kind, contents, value
        if key not in self._answers:
            self._answers[key] = self.asked(kind, self.serial(contents, value))
        return self._answers[key]

    # Each kind of model says the rest.
    def fresh(self) -> Any: ...
    def serial(self, contents: Contents, value: Any) -> Any: ...
    def add(self, model: Any, batch: int) -> None: ...
    def remove(self, model: Any, batch: int) -> None: ...
    def asked(self, kind: str, model: Any) -> np.ndarray: ...
    def merged(self, model: Any) -> Any: ...
    def saved(self, model: Any, path: Path) -> Any: ...
    def set_value(self, model: Any, value: Any) -> None: ...
    def classes(self, contents: Contents) -> np.ndarray: ...


def _rows(seed: int, label: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    mean = np.random.default_rng([7, seed]).normal(size=N_FEATURES) * 4
    x = mean + np.random.default_rng([8, seed, n]).normal(size=(n, N_FEATURES)) * 0.5
    return x.astype(np.float32), np.repeat(label, n)


class SharedLearner(SharedModel):
    """A learner; each batch has a class of its own, and rows of a class that all have."""

    def __init__(self, learner: Learner, number: int) -> None:
        super().__init__()
        if "n_projected" in learner.get_params():
            learner.set_params(n_projected=12)
        self.template, self.name = learner, f"{number}-{type(learner).__name__}"
        base = [_rows(100 + i, f"base {i}", 8) for i in range(3)]
        self.base = tuple(map(np.concatenate, zip(*base, strict=True)))
        self.batches = []
        for batch in range(OTHER + 1):
            own, (shared, _) = _rows(batch, f"own {batch:02d}", 4), _rows(100 + batch % 3, "", 11 + batch)
            everybody = np.repeat(f"base {batch % 3}", 2)
            self.batches.append((np.concatenate([own[0], shared[:2]]), np.concatenate([own[1], everybody])))
        self.x = np.concatenate([self.base[0][::8], *(x[:1] for x, _ in self.batches)])
        self.parameter = self._changeable()

    def _changeable(self) -> str | None:
        """Return a parameter that may change once learned."""
        for name, value in self.template.get_params().items():
            if isinstance(value, float) and value > 0:
                try:
                    self.fresh().set_params(**{name: 2 * value}).scores(self.x)
                except AnacpError:
                    continue
                self.value, self.values = value, (value, 2 * value)
                return name
        return None

    def fresh(self) -> Learner:
        return clone(self.template).partial_fit(*self.base)

    def serial(self, contents: Contents, value: Any) -> Learner:
        parts = [self.base, *(self.batches[batch] for batch in sorted(contents))]
        model = clone(self.template).partial_fit(*map(np.concatenate, zip(*parts, strict=True)))
        if self.parameter is not None:
            model.set_params(**{self.parameter: value})
        return model

    def add(self, model: Learner, batch: int) -> None:
        model.partial_fit(*self.batches[batch])

    def remove(self, model: Learner, batch: int) -> None:
        model.unlearn(*self.batches[batch])

    def asked(self, kind: str, model: Learner) -> np.ndarray:
        ask: dict[str, Callable[..., np.ndarray]] = {
            "scores": model.scores,
            "probabilities": model.predict_proba,
            "labels": model.predict,
        }
        return ask[kind](self.x)

    def merged(self, model: Learner) -> Learner:
        return model + self._other(model)

    def _other(self, model: Learner) -> Learner:
        other = clone(self.template).partial_fit(*self.batches[OTHER])
        # Equal parameters are asked for; where another thread changes one right now, the merge is refused: try again.
        return other.set_params(**model.get_params())

    def saved(self, model: Learner, path: Path) -> Any:
        model.save(path)
        return anacp.load(path)

    def set_value(self, model: Learner, value: Any) -> None:
        model.set_params(**{str(self.parameter): value})

    def classes(self, contents: Contents) -> np.ndarray:
        return np.unique(np.concatenate([self.base[1], *(self.batches[batch][1] for batch in sorted(contents))]))


class SharedClassifier(SharedModel):
    """A classifier with a small network; each batch has texts of a class of its own and of a class that all have."""

    name = "classifier"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.encoder = Encoder(network(folder))
        self.base = [f"the {WORDS[i]}" for i in range(3)], [f"base {i}" for i in range(3)]
        self.batches = []
        for batch in range(OTHER + 1):
            telling = f"{WORDS[batch % 9]} {WORDS[(batch * 4 + 1) % 9]} {WORDS[(batch // 9 + batch) % 9]}"
            texts = [telling, f"{telling} very {batch}", f"{telling} a {WORDS[batch % 7]}"]
            self.batches.append((texts, [f"own {batch:02d}", f"own {batch:02d}", "base 0"]))
        self.texts = [self.base[0][0], *(texts[0] for texts, _ in self.batches[::4])]

    def fresh(self) -> Classifier:
        return self.serial(frozenset(), None)

    def serial(self, contents: Contents, value: Any) -> Classifier:
        model = Classifier(self.encoder, anacp.SLDA())
        model.learn(*self.base)
        for batch in sorted(contents):
            model.learn(*self.batches[batch])
        return model

    def add(self, model: Classifier, batch: int) -> None:
        model.learn(*self.batches[batch])

    def remove(self, model: Classifier, batch: int) -> None:
        model.forget(*self.batches[batch])

    def asked(self, kind: str, model: Classifier) -> np.ndarray:
        if kind == "labels":
            return model.predict(self.texts)
        return model.learner.scores(model.features(self.texts)) if kind == "scores" else model.predict_proba(self.texts)

    def merged(self, model: Classifier) -> Classifier:
        other = Classifier(self.encoder, anacp.SLDA())
        other.learn(*self.batches[OTHER])
        return model + other

    def saved(self, model: Classifier, path: Path) -> Any:
        model.save(path)
        return Classifier.load(path, backbone=self.encoder.backbone)

    def classes(self, contents: Contents) -> np.ndarray:
        return np.unique([*self.base[1], *(label for batch in contents for label in self.batches[batch][1])])
