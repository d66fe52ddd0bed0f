"""What every learner shares: labels, batches, lazy solving, merging, forgetting, calibration and saving."""

import copy
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from torch import Tensor

from anacp.errors import InputError, MismatchError, NotLearnedError, ParameterError
from anacp.learners.calibration import sharpness
from anacp.learners.files import write_model
from anacp.learners.inputs import Labels, check_examples, check_features, label_kind
from anacp.learners.summary import Part, table
from anacp.replay import draw
from anacp.statistics import ClassMoments, Statistic
from anacp.statistics.base import BLOCK_ROWS, row_blocks

__all__ = ["Learner"]

# Rows drawn to calibrate probabilities, shared out among the classes.
CALIBRATION_ROWS = 4000


@dataclass
class _State:
    """Everything learned. It changes in place, so that predicting leaves the estimator's own attributes alone."""

    learned_with: dict[str, Any]
    classes: Labels  # the classes that the statistics are indexed by
    statistics: dict[str, Statistic]
    pending: list[tuple[Tensor, Labels]] = field(default_factory=list)
    solved_with: dict[str, Any] | None = None
    solution: Any = None
    sharpness: float | None = None
    kept: dict[str, Any] = field(default_factory=dict)  # what a method wants to reuse from one solve to the next


class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier that may meet new classes at any time.

    A method says which statistics it keeps (`_statistics`), what it solves from them (`_solve`), and how that scores
    a row (`_scores`); everything else is here. `partial_fit` only adds to the statistics; the first prediction after
    it solves, once. All results depend on the data learned, never on its order or its batches.
    """

    # Parameters that may change after learning: they enter when solving only.
    _solve_parameters: ClassVar[frozenset[str]] = frozenset()

    random_state: int
    device: str
    dtype: str
    classes_: Labels
    n_features_in_: int

    @abstractmethod
    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        """Return what this method keeps, empty; one entry is "moments"."""

    @abstractmethod
    def _solve(self) -> Any:
        """Return what `_scores` needs, from the statistics."""

    @abstractmethod
    def _scores(self, x: Tensor, solution: Any) -> Tensor:
        """Return one score a class (n, c) for prepared rows (n, d); the largest wins."""

    def _prepare(self, x: Tensor) -> Tensor:
        """Return the rows as the statistics and scores see them."""
        return x

    def _check_parameters(self) -> None:
        """Refuse parameters outside their range."""
        self._expect("random_state", isinstance(self.random_state, int | np.integer), "an integer")
        self._expect("dtype", self.dtype in ("float32", "float64"), "'float32' or 'float64'")

    def _expect(self, name: str, condition: bool, expected: str) -> None:
        if not condition:
            raise ParameterError(f"Expected {name} to be {expected}, got {getattr(self, name)!r}.")

    # Learning ---------------------------------------------------------------------------------------------------

    def fit(self, x: ArrayLike | Tensor, y: ArrayLike | Tensor) -> Self:
        """Forget everything, then learn these examples.

        Parameters
        ----------
        x : array-like or tensor of shape (n, d)
            Features.
        y : array-like or tensor of shape (n,)
            Labels: text, numbers or booleans.
        """
        fresh = clone(self).partial_fit(x, y)
        vars(self).update(vars(fresh))
        return self

    def partial_fit(self, x: ArrayLike | Tensor, y: ArrayLike | Tensor, classes: ArrayLike | None = None) -> Self:
        """Learn more examples, of old classes, new classes, or both. If this fails, nothing has changed.

        Parameters
        ----------
        x : array-like or tensor of shape (n, d)
            Features.
        y : array-like or tensor of shape (n,)
            Labels. They need not have been announced.
        classes : ignored
            Accepted because scikit-learn's `partial_fit` has it. A class without examples is never predicted.
        """
        before = dict(vars(self))
        try:
            self._check_parameters()
            if not self._learned:
                rows, labels = check_examples(self, x, y, self.dtype, first=True)
                self.classes_ = labels[:0]
                self._state = _State(
                    self.get_params(), self.classes_, self._statistics(self.n_features_in_, self.device)
                )
            else:
                self._check_unchanged()
                rows, labels = check_examples(self, x, y, self.dtype, first=False)
                self._check_kind(labels)
            self._learn(rows, labels)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def _learn(self, rows: NDArray[Any], labels: Labels) -> None:
        # Rows wait until a block is full: online learning, one example at a time, then costs no more than batches.
        state = self._state
        waiting = list(state.pending)
        prepared = self._prepare(torch.tensor(rows, device=self.device))
        state.pending = [*waiting, (prepared, labels)]
        classes = self.classes_
        try:
            self.classes_ = np.union1d(classes, labels)
            if sum(len(x) for x, _ in state.pending) >= BLOCK_ROWS:
                self._absorb()
        except BaseException:
            state.pending, self.classes_ = waiting, classes
            raise
        state.solved_with = None

    def _absorb(self) -> None:
        """Move waiting rows into the statistics, all or nothing."""
        state = self._state
        if not state.pending:
            return
        x = torch.cat([rows for rows, _ in state.pending])
        labels = np.concatenate([labels for _, labels in state.pending])
        self._accumulate(x, labels, sign=1)
        state.pending = []

    def _accumulate(self, x: Tensor, labels: Labels, *, sign: int) -> None:
        state = self._state
        indices = torch.from_numpy(np.searchsorted(self.classes_, labels)).to(self.device)
        updated = _at(state.statistics, state.classes, self.classes_, self.device)
        done: list[Statistic] = []
        try:
            for statistic in updated.values():
                statistic.add_(x, indices, sign=sign)
                done.append(statistic)
        except BaseException:
            for statistic in done:  # what is not kept by class is shared with the statistics before
                statistic.add_(x, indices, sign=-sign)
            raise
        state.statistics, state.classes, state.solved_with = updated, self.classes_, None

    def unlearn(self, x: ArrayLike | Tensor, y: ArrayLike | Tensor) -> Self:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. The examples must have been learned before; what can be checked
        (the class is known, and has that many examples) is checked, and a refusal changes nothing.
        """
        self._check_learned()
        rows, labels = check_examples(self, x, y, self.dtype, first=False)
        self._check_kind(labels)
        self._absorb()
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise InputError(f"Expected labels learned before, got {_listed(unknown)}. Check the labels to unlearn.")
        removed, counts = np.unique(labels, return_counts=True)
        held = self._moments.counts.cpu().numpy()[np.searchsorted(self.classes_, removed)]
        if (counts > held).any():
            first = int(np.argmax(counts > held))
            raise InputError(
                f"Expected at most {held[first]} examples of {removed[first]!r}, as many as were learned, got "
                f"{counts[first]}. Unlearn each example once."
            )
        self._accumulate(self._prepare(torch.tensor(rows, device=self.device)), labels, sign=-1)
        left = self._moments.counts.cpu().numpy() > 0
        if left.all():
            return self
        if not left.any():
            blank = vars(clone(self))
            vars(self).clear()
            vars(self).update(blank)
            return self
        state = self._state
        remaining = self.classes_[left]
        state.statistics = _at(state.statistics, state.classes, remaining, self.device)
        self.classes_ = state.classes = remaining
        return self

    def __add__(self, other: Self) -> Self:
        """Return a new model: the one that learned the data of both."""
        if not isinstance(other, type(self)):
            return NotImplemented
        mine, theirs = self.get_params(), other.get_params()
        differing = sorted(name for name in mine if mine[name] != theirs[name])
        if differing:
            listed = ", ".join(f"{name} ({mine[name]!r} and {theirs[name]!r})" for name in differing)
            raise MismatchError(f"Expected two models of equal parameters, got different {listed}. Retrain one of them.")
        if not (self._learned and other._learned):
            return copy.deepcopy(self if self._learned else other)
        if self.n_features_in_ != other.n_features_in_:
            raise MismatchError(
                f"Expected two models of one width, got {self.n_features_in_} and {other.n_features_in_} features. "
                "Both must learn features of the same backbone."
            )
        self._check_kind(other.classes_)
        self._absorb()
        other._absorb()
        result = cast(Self, clone(self))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(result, name, getattr(self, name))
        result.classes_ = np.union1d(self.classes_, other.classes_)
        left = _at(self._state.statistics, self.classes_, result.classes_, self.device)
        right = _at(other._state.statistics, other.classes_, result.classes_, self.device)
        merged = {name: statistic + right[name] for name, statistic in left.items()}
        result._state = _State(mine, result.classes_, merged)
        return result

    def __radd__(self, other: object) -> Self:
        """Let `sum(models)` work."""
        return copy.deepcopy(self) if other == 0 else NotImplemented

    # Predicting -------------------------------------------------------------------------------------------------

    def predict(self, x: ArrayLike | Tensor, classes: ArrayLike | None = None) -> Labels:
        """Return the most likely label of each row.

        Parameters
        ----------
        x : array-like or tensor of shape (n, d)
            Features.
        classes : array-like, optional
            Choose among these classes only (task-incremental use). All must have been learned.
        """
        scores = self._score(x)
        if classes is None:
            return cast(Labels, self.classes_[scores.argmax(1).cpu().numpy()])
        allowed = np.unique(np.asarray(classes))
        unknown = np.setdiff1d(allowed, self.classes_)
        if len(unknown) or not len(allowed):
            got = _listed(unknown) if len(unknown) else "none"
            raise InputError(f"Expected classes learned before, got {got}. Learn them first, or leave them out.")
        columns = np.searchsorted(self.classes_, allowed)
        return cast(Labels, allowed[scores[:, torch.from_numpy(columns)].argmax(1).cpu().numpy()])

    def decision_function(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return one score a class (n, c), the largest wins; for two classes their difference (n,)."""
        scores = self._score(x)
        if scores.shape[1] == 2:
            scores = scores[:, 1] - scores[:, 0]
        return cast(NDArray[Any], scores.cpu().numpy())

    def predict_proba(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return one probability a class (n, c), calibrated on draws that the model was not solved with."""
        scores = self._score(x)
        return cast(NDArray[Any], torch.softmax(scores * self._sharpness(), dim=1).cpu().numpy())

    def _score(self, x: ArrayLike | Tensor) -> Tensor:
        self._check_learned()
        rows = torch.tensor(check_features(self, x, self.dtype))
        solution = self._solution()
        return torch.cat([self._scores(self._prepare(rows[b].to(self.device)), solution) for b in row_blocks(len(rows))])

    def _solution(self) -> Any:
        self._check_unchanged()
        self._absorb()
        state = self._state
        parameters = self.get_params()
        if state.solved_with != parameters:
            state.solution, state.sharpness = self._solve(), None
            state.solved_with = parameters
        return state.solution

    def _sharpness(self) -> float:
        solution = self._solution()
        if self._state.sharpness is None:
            n_draws = max(1, CALIBRATION_ROWS // len(self.classes_))
            rows, indices = draw(self._moments, n_draws, seed=self.random_state, role="calibration")
            rows = rows.to(self._torch_dtype)
            scores = torch.cat([self._scores(rows[b], solution) for b in row_blocks(len(rows))])
            self._state.sharpness = sharpness(scores, indices)
        return self._state.sharpness

    # Keeping ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file, all or nothing; `anacp.load` reads it back."""
        self._check_learned()
        self._absorb()
        header = {
            "learner": type(self).__name__,
            "parameters": self.get_params() | {"device": "cpu"},
            "classes": self.classes_.tolist(),
            "classes_dtype": self.classes_.dtype.str,
            "n_features": self.n_features_in_,
            "feature_names": getattr(self, "feature_names_in_", np.empty(0)).tolist(),
        }
        tensors = {
            f"{name}.{part}": tensor
            for name, statistic in self._state.statistics.items()
            for part, tensor in statistic.tensors().items()
        }
        write_model(path, header, tensors)

    def _restore(self, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        self._check_parameters()
        self.n_features_in_ = header["n_features"]
        if header["feature_names"]:
            self.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        self.classes_ = np.array(header["classes"], dtype=np.dtype(header["classes_dtype"]))
        statistics = self._statistics(self.n_features_in_, self.device)
        for name, statistic in statistics.items():
            own = {key.removeprefix(f"{name}."): t for key, t in tensors.items() if key.startswith(f"{name}.")}
            statistic.load_({part: tensor.to(self.device) for part, tensor in own.items()})
        self._state = _State(self.get_params(), self.classes_, statistics)

    def parts(self, *, n_features: int | None = None, n_classes: int | None = None) -> list[Part]:
        """Return what the model stores, part by part; with sizes given, what it would store of such data.

        Symmetric matrices count their distinct numbers, as in a model file.
        """
        n_features = self.n_features_in_ if n_features is None else n_features
        n_classes = len(self.classes_) if n_classes is None else n_classes
        nothing = torch.zeros(0, dtype=torch.int64, device="meta")
        return [
            Part(f"{name} {part}", tensor.numel(), tensor.numel() * tensor.element_size())
            for name, statistic in self._statistics(n_features, "meta").items()
            for part, tensor in statistic.at(nothing, nothing, n_classes).tensors().items()
        ]

    def summary(self, *, n_features: int | None = None, n_classes: int | None = None) -> None:
        """Print what is stored, numbers and bytes by part. Give sizes to see the cost before it is paid."""
        if n_features is None or n_classes is None:
            self._check_learned()
            self._absorb()
        parts = self.parts(n_features=n_features, n_classes=n_classes)
        n_features = self.n_features_in_ if n_features is None else n_features
        n_classes = len(self.classes_) if n_classes is None else n_classes
        title = f"{type(self).__name__}: {n_classes} classes, {n_features} features"
        notes = ["not stored, rebuilt when needed:"]
        notes += [f"  {name}: {numbers:,} numbers" for name, numbers in self._rebuilt(n_features, n_classes).items()]
        print(table(title, parts, notes if len(notes) > 1 else []))

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        """Return how many numbers are rebuilt from seed and statistics instead of stored, by name."""
        return {}

    # Checks -----------------------------------------------------------------------------------------------------

    @property
    def _learned(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned

    def _check_learned(self) -> None:
        if not self._learned:
            raise NotLearnedError(
                f"This {type(self).__name__} has learned nothing yet. Call `partial_fit` or `fit` with examples first."
            )

    def _check_unchanged(self) -> None:
        """Refuse parameters that were changed although the statistics depend on them."""
        learned_with = self._state.learned_with
        changed = [k for k, v in self.get_params().items() if v != learned_with[k] and k not in self._solve_parameters]
        if changed:
            raise ParameterError(
                f"Expected {', '.join(changed)} as when learning began, got another value. What was learned depends "
                f"on it: set it back, or call `fit`. These may change freely: {', '.join(sorted(self._solve_parameters))}."
            )

    def _check_kind(self, labels: Labels) -> None:
        expected, got = label_kind(self.classes_), label_kind(labels)
        if expected != got:
            raise InputError(
                f"Expected labels of the kind learned before ({expected}), got {got}. Convert them to one kind first."
            )

    @property
    def _moments(self) -> ClassMoments:
        return cast(ClassMoments, self._state.statistics["moments"])

    @property
    def _torch_dtype(self) -> torch.dtype:
        return cast(torch.dtype, getattr(torch, self.dtype))


def _at(statistics: Mapping[str, Statistic], old: Labels, new: Labels, device: str) -> dict[str, Statistic]:
    """Return the statistics with their classes where the new labels want them; labels no longer wanted are dropped."""
    kept = np.flatnonzero(np.isin(old, new))
    sources, places = (torch.from_numpy(i).to(device) for i in (kept, np.searchsorted(new, old[kept])))
    return {name: statistic.at(sources, places, len(new)) for name, statistic in statistics.items()}


def _listed(labels: Labels) -> str:
    shown = ", ".join(repr(label) for label in labels[:5].tolist())
    return shown if len(labels) <= 5 else f"{shown} and {len(labels) - 5} more"
