"""Random sequences of learning, unlearning, merging and saving, against a model that never saw what was unlearned.

`run_sequences(n, seed)` may be called by anybody, for as long as they like: it raises at the first broken promise and
returns what it counted. The promise: every operation succeeds, or is refused with an error of ours and changes nothing,
to the bit; and what the model says at the end is what the other says, within `BOUND` of the size of the scores.
"""

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone

import anacp
from anacp.errors import AnacpError, RidgeEdgeWarning
from anacp.learners import Learner, contents
from anacp.statistics import ClassGram
from tests.contract.every_learner import every_learner

Array = NDArray[Any]

N_FEATURES, N_CLASSES = 6, 4
# How far scores may lie apart, relative to the largest score for rows of the same scale.
BOUND = 1e-2
# Scales of batches: all alike; alike, but anywhere; anything beside anything.
KINDS = ("ordinary", "far", "wild")


@dataclass
class Figures:
    """What was counted."""

    sequences: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)  # by kind of sequence and operation
    compared: int = 0
    labels: int = 0
    close_labels: int = 0  # that differ where the reference itself can hardly tell
    largest: float = 0.0  # deviation of a score, relative
    unstable: int = 0  # comparisons where the reference depends on its batches by more than the bound
    other_choices: int = 0  # where another λ was chosen

    def __str__(self) -> str:
        return (
            f"{self.sequences} sequences, {sum(self.operations.values())} operations {dict(self.operations)}, refused "
            f"{sum(self.refusals.values())} {dict(self.refusals)}; {self.compared} models compared, "
            f"{self.labels} labels, "
            f"{self.close_labels} of them differ within the bound; largest deviation {self.largest:.2g}; "
            f"{self.unstable} unstable references, {self.other_choices} other choices of λ"
        )


def run_sequences(n: int, seed: int) -> Figures:
    """Run sequences 0 … n-1 of a seed, and return what was counted."""
    figures = Figures()
    learners = every_learner()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(n):
            try:
                Sequence(learners, np.random.default_rng([seed, i]), Path(folder), figures).run()
            except Exception as problem:
                problem.add_note(f"sequence {i} of seed {seed}")
                raise
            figures.sequences += 1
    return figures


class Sequence:
    """One model, and the rows that it should know."""

    def __init__(self, learners: list[Learner[Any]], random: np.random.Generator, folder: Path, figures: Figures):
        self.random, self.folder, self.figures = random, folder, figures
        self.empty = clone(learners[random.integers(len(learners))])
        self.empty.set_params(dtype=str(random.choice(["float32", "float64"])))
        if "n_epochs" in self.empty.get_params():
            self.empty.set_params(n_epochs=3)
        self.kind = str(random.choice(KINDS))
        self.centre = 0.0 if self.kind == "ordinary" else random.uniform(-28, 28)
        self.means = random.normal(size=(N_CLASSES, N_FEATURES)) * 2
        self.scales: set[float] = set()
        self.model = clone(self.empty)
        self.x, self.y = np.empty((0, N_FEATURES)), np.empty(0, dtype=np.int64)

    @property
    def refusable(self) -> bool:
        """Whether anything may be refused: not at ordinary scales, in float64 or normalised."""
        normalised = self.empty.get_params().get("normalize") in (True, "inputs") or type(self.empty).__name__ == "NCM"
        return self.kind != "ordinary" or not (self.empty.dtype == "float64" or normalised)

    def run(self) -> None:
        with quiet():
            steps: list[Callable[[], None]] = [self.learn, self.unlearn, self.unlearn_class, self.merge, self.reload]
            self.learn()
            for _ in range(self.random.integers(3, 8)):
                steps[self.random.choice(len(steps), p=[0.3, 0.35, 0.1, 0.15, 0.1])]()
            self.compare()

    def batch(self) -> tuple[Array, Array]:
        """Return a few rows of one scale."""
        exponent = self.random.uniform(-30, 30) if self.kind == "wild" else self.centre + self.random.uniform(-1.5, 1.5)
        self.scales.add(10.0**exponent)
        y = self.random.integers(N_CLASSES, size=self.random.integers(1, 12))
        x = (self.means[y] + self.random.normal(size=(len(y), N_FEATURES))) * 10.0**exponent
        return x.astype(np.float32).astype(np.float64), y

    def attempt(self, name: str, change: Callable[[Learner[Any]], Learner[Any]]) -> bool:
        """Try to change the model; a refusal must leave it as it was."""
        self.figures.operations[name] += 1
        before = state(self.model)
        try:
            self.model = change(self.model)
        except AnacpError as problem:
            self.refused(name, problem)
            same_bits(before, state(self.model))
            return False
        return True

    def refused(self, name: str, problem: AnacpError) -> None:
        assert self.refusable, f"{self.empty} refused to {name} at ordinary scales: {problem}"
        self.figures.refusals[f"{self.kind} {name}"] += 1

    def learn(self) -> None:
        x, y = self.batch()
        if self.attempt("learn", lambda model: model.partial_fit(x, y)):
            self.x, self.y = np.concatenate([self.x, x]), np.concatenate([self.y, y])

    def unlearn(self) -> None:
        if not len(self.y):
            return
        gone = self.random.permutation(len(self.y))[: self.random.integers(1, len(self.y) + 1)]
        if self.attempt("unlearn", lambda model: model.unlearn(self.x[gone], self.y[gone])):
            self.drop(gone)

    def unlearn_class(self) -> None:
        if not len(self.y):
            return
        label = self.random.choice(self.y)
        gone = np.flatnonzero(self.y == label)
        parts = [part.name for part in self.model.parts()]
        if (type(self.empty).__name__ == "FeCAM" and self.empty.covariance == "class") or "rows rows" in parts:
            done = self.attempt("unlearn class", lambda model: model.unlearn_class(label))
        else:
            done = self.attempt("unlearn class", lambda model: model.unlearn(self.x[gone], self.y[gone]))
        if done:
            self.drop(gone)

    def merge(self) -> None:
        x, y = self.batch()
        other = clone(self.empty)
        try:
            other.partial_fit(x, y)
        except AnacpError as problem:
            self.refused("learn", problem)
            return
        if self.attempt("merge", lambda model: model + other):
            self.x, self.y = np.concatenate([self.x, x]), np.concatenate([self.y, y])

    def reload(self) -> None:
        if len(self.y):
            path = self.folder / "model.anacp"
            self.model.save(path, exact=True)
            before = state(self.model)
            self.model = anacp.load(path)
            same_bits(before, state(self.model))
            self.figures.operations["save and load"] += 1

    def drop(self, gone: Array) -> None:
        self.x, self.y = np.delete(self.x, gone, axis=0), np.delete(self.y, gone)

    def compare(self) -> None:
        """Compare with a model that only ever saw what is left."""
        if not len(self.y):
            assert not self.model.__sklearn_is_fitted__()
            return
        np.testing.assert_array_equal(self.model.classes_, np.unique(self.y))
        try:
            reference = clone(self.empty).partial_fit(self.x, self.y)
            self.compare_statistics(reference)
            for scale in sorted(self.scales):
                near = self.means[self.random.integers(N_CLASSES, size=6)]
                self.compare_on((near + self.random.normal(size=near.shape)) * scale, reference)
        except AnacpError as problem:
            self.refused("answer", problem)
            return
        self.figures.compared += 1

    def compare_on(self, x: Array, reference: Learner[Any]) -> None:
        """Scores agree within the bound, and so do labels unless the reference itself can hardly tell."""
        expected, got = reference.scores(x).astype(float), self.model.scores(x).astype(float)
        probabilities = self.model.predict_proba(x)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-4)
        if expected.shape[1] == 1:  # always that one, and a score of length one has only its sign
            return
        size = np.abs(expected).max() or 1.0
        deviation, bound = float(np.abs(got - expected).max() / size), BOUND
        if deviation > bound:
            bound = max(bound, 10 * self.own_deviation(x, expected) / size)
        if deviation > bound and self.chooses:
            self.figures.other_choices += 1
            return
        assert deviation <= bound, f"{self.empty}: scores lie {deviation:.2g} apart, more than {bound:.2g}"
        differ = got.argmax(1) != expected.argmax(1)
        ordered = np.sort(expected, axis=1)
        close = ordered[:, -1] - ordered[:, -2] <= 2 * bound * size
        assert (close | ~differ).all(), f"{self.empty}: other labels"
        self.figures.labels += len(x)
        self.figures.close_labels += int(differ.sum())
        if bound > BOUND:
            self.figures.unstable += 1
        else:
            self.figures.largest = max(self.figures.largest, deviation)

    @property
    def chooses(self) -> bool:
        """Whether λ is chosen: where two choices are as good, rounding decides, and only statistics can be compared."""
        return any(isinstance(self.empty.get_params().get(name), str) for name in ("ridge", "classifier_ridge"))

    def own_deviation(self, x: Array, expected: Array) -> float:
        """Return how far the reference lies from others that learned the same rows but for their last digit."""
        largest, digit = 0.0, np.finfo(self.empty.dtype).eps
        for _ in range(4):
            other = clone(self.empty)
            near = self.x * (1 + digit * self.random.choice([-1, 0, 1], size=self.x.shape))
            for rows in np.array_split(self.random.permutation(len(self.y)), min(3, len(self.y))):
                other.partial_fit(near[rows], self.y[rows])
                other.solve()
            largest = max(largest, float(np.abs(other.scores(x) - expected).max()))
        return largest

    def compare_statistics(self, reference: Learner[Any]) -> None:
        """What is remembered lies no further from what the reference remembers than both say that it may."""
        one, other = state(self.model), state(reference)
        for name, tensor in one.items():
            whole, _, part = name.rpartition(".")
            error = ERROR_OF.get(part) and f"{whole}.{ERROR_OF[part]}"
            if error not in one:
                continue
            gap = (tensor.double() - other[name].double()).abs()
            if gap.ndim > 1:
                gap = gap.norm(dim=1) if part == "means" else gap.amax(1)
            allowed = TRACKED * (one[error] + other[error])
            if part == "scatter":  # rows that are equal up to the last digit of a float32 have none
                means, counts = one[f"{whole}.means"], one[f"{whole}.counts"]
                allowed = allowed + EQUAL * (counts * means.square().sum(1)).sum()
            assert bool((gap <= allowed).all()), (
                f"{self.empty}: {name} is off by {gap.tolist()}, more than {allowed.tolist()}"
            )
        held, wanted = (model._knowledge.memory.absorbed().statistics for model in (self.model, reference))
        for name, gram in held.items():
            if isinstance(gram, ClassGram):  # whole: a few rows more or less, and it is kept in another way
                largest = float((gram.gram.packed().double() - wanted[name].gram.packed().double()).abs().max())
                allowed = TRACKED * float(gram.error + wanted[name].error)
                assert largest <= allowed, f"{self.empty}: {name} is off by {largest:.2g}, more than {allowed:.2g}"


# Which error belongs to which tensor, and how many times that a single number may be off.
ERROR_OF = {"means": "mean_errors", "scatter": "scatter_error"}
TRACKED, EQUAL = 4, torch.finfo(torch.float32).eps ** 2


@contextmanager
def quiet() -> Iterator[None]:
    """Let the choice of a ridge be at the edge of its grid: with so few rows that is no surprise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RidgeEdgeWarning)
        yield


def state(model: Learner[Any]) -> dict[str, torch.Tensor]:
    """Return all that a file would hold, but for what is solved."""
    if not model.__sklearn_is_fitted__():
        return {}
    return {name: one for name, one in contents(model)[1].items() if not name.startswith("solution.")}


def same_bits(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), f"{name} has changed"


if __name__ == "__main__":
    print(run_sequences(int(sys.argv[1]), int(sys.argv[2])))
