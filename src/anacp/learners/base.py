"""What every learner shares: labels, batches, lazy solving, merging, forgetting, calibration and saving."""

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from torch import Tensor

from anacp.errors import InputError, MismatchError, NotLearnedError, ParameterError
from anacp.learners.calibration import mixed_draws, sharpness
from anacp.learners.files import write_model
from anacp.learners.inputs import Labels, check_examples, check_features, label_kind
from anacp.learners.memory import Memory, listed
from anacp.learners.summary import Part, table
from anacp.statistics import Statistic
from anacp.statistics.base import BLOCK_ROWS, row_blocks

__all__ = ["Learner"]

# Rows drawn to calibrate probabilities, shared out among the classes.
CALIBRATION_ROWS = 4000


@dataclass
class _Solved:
    """The latest solution. It changes in place, so that predicting leaves the estimator's own attributes alone."""

    parameters: dict[str, Any] | None = None  # that it was solved with; None when there is new data
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

    # Rows scored at a time.
    _block_rows: ClassVar[int] = BLOCK_ROWS

    random_state: int
    device: str
    dtype: str
    classes_: Labels
    n_features_in_: int
    _memory: Memory
    _solved: _Solved
    _learned_with: dict[str, Any]

    @abstractmethod
    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        """Return what this method keeps, empty; one entry is "moments"."""

    @abstractmethod
    def _solve(self) -> Any:
        """Return what `_scores` needs, from the statistics."""

    @abstractmethod
    def _scores(self, x: Tensor, solution: Any) -> Tensor:
        """Return one score a class (n, c) for prepared rows (n, d); the largest wins."""

    def _evidence(self, scores: Tensor) -> Tensor:
        """Return what grows in proportion to the log-odds: probabilities are softmax(β·evidence)."""
        return scores

    def _prepare(self, x: Tensor) -> Tensor:
        """Return the rows as the statistics and scores see them."""
        return x

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        """Return how many numbers are rebuilt from seed and statistics instead of stored, by name."""
        return {}

    def _check_parameters(self) -> None:
        """Refuse parameters outside their range."""
        self._expect("random_state", isinstance(self.random_state, int | np.integer), "an integer")
        self._expect("dtype", self.dtype in ("float32", "float64"), "'float32' or 'float64'")

    def _expect(self, name: str, condition: bool | np.bool_, expected: str) -> None:
        if not condition:
            raise ParameterError(f"Expected {name} to be {expected}, got {getattr(self, name)!r}.")

    def _expect_count(self, name: str) -> None:
        value = getattr(self, name)
        self._expect(name, isinstance(value, int | np.integer) and value > 0, "a positive integer")

    def _expect_choice(self, name: str, *choices: object) -> None:
        self._expect(name, getattr(self, name) in choices, "one of " + ", ".join(map(repr, choices)))

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
        self._forget()
        self.__dict__.update(fresh.__dict__)
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
        before = dict(self.__dict__)
        try:
            self._check_parameters()
            if self._learned:
                self._check_unchanged()
            rows, labels = check_examples(self, x, y, self.dtype, first=not self._learned)
            if not self._learned:
                self._begin(labels[:0])
            self._check_kind(labels)
            self._memory.learn(self._prepare(torch.tensor(rows, device=self.device)), labels)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self.classes_ = self._memory.classes
        self._solved.parameters = None
        return self

    def _forget(self) -> None:
        # Only what is ours: scikit-learn hangs attributes of its own on an estimator.
        for name in ("_memory", "_solved", "_learned_with", "classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def _begin(self, classes: Labels) -> None:
        statistics = self._statistics(self.n_features_in_, self.device)
        self._memory = Memory(statistics, classes, classes, self.device)
        self._solved = _Solved()
        self._learned_with = self.get_params()
        self.classes_ = classes

    def unlearn(self, x: ArrayLike | Tensor, y: ArrayLike | Tensor) -> Self:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. The examples must have been learned before; what can be checked
        (the class is known, and has that many examples) is checked, and a refusal changes nothing.
        """
        self._check_learned()
        rows, labels = check_examples(self, x, y, self.dtype, first=False)
        self._check_kind(labels)
        self._memory.unlearn(self._prepare(torch.tensor(rows, device=self.device)), labels)
        return self._shrunk()

    def unlearn_class(self, label: object) -> Self:
        """Take a class out exactly, without its examples. Only for methods that keep every class apart.

        Raises
        ------
        InputError
            If the class is unknown, or if this method pools classes: then `unlearn` its examples.
        """
        self._check_learned()
        self._memory.unlearn_class(label, type(self).__name__)
        return self._shrunk()

    def _shrunk(self) -> Self:
        self.classes_ = self._memory.classes
        self._solved.parameters = None
        if not len(self.classes_):
            self._forget()
        return self

    def __add__(self, other: Self) -> Self:
        """Return a new model: the one that learned the data of both."""
        if not isinstance(other, type(self)):
            return NotImplemented
        mine, theirs = self.get_params(), other.get_params()
        differing = [f"{name} ({mine[name]!r} and {theirs[name]!r})" for name in mine if mine[name] != theirs[name]]
        if differing:
            raise MismatchError(f"Expected models of equal parameters, got different {', '.join(differing)}.")
        if not (self._learned and other._learned):
            return copy.deepcopy(self if self._learned else other)
        self._check_learned()
        other._check_learned()
        if self.n_features_in_ != other.n_features_in_:
            raise MismatchError(
                f"Expected two models of one width, got {self.n_features_in_} and {other.n_features_in_} features. "
                "Both must learn features of the same backbone."
            )
        self._check_kind(other.classes_)
        result = cast(Self, clone(self))
        for name in {"n_features_in_", "feature_names_in_"} & self.__dict__.keys():
            setattr(result, name, getattr(self, name))
        result._begin(self.classes_[:0])
        result._memory = self._memory.merged(other._memory)
        result.classes_ = result._memory.classes
        return result

    def __radd__(self, other: object) -> Self:
        """Let `sum(models)` work."""
        return copy.deepcopy(self) if other == 0 else NotImplemented

    def solve(self) -> Self:
        """Solve now what the first prediction would solve, so that no prediction has to wait for it."""
        self._check_learned()
        self._solution()
        return self

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
        self._check_learned()
        allowed = self.classes_ if classes is None else np.unique(np.asarray(classes))
        unknown = np.setdiff1d(allowed, self.classes_)
        if len(unknown) or not len(allowed):
            got = listed(unknown) if len(unknown) else "none"
            raise InputError(f"Expected classes learned before, got {got}. Learn them first, or leave them out.")
        columns = torch.from_numpy(np.searchsorted(self.classes_, allowed)).to(self.device)

        def winners(rows: Tensor, solution: Any) -> Tensor:
            return self._scores(rows, solution)[:, columns].argmax(1)

        return cast(Labels, allowed[self._in_blocks(x, winners).cpu().numpy()])

    def decision_function(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return one score a class (n, c), the largest wins; for two classes one number (n,), the second's if > 0.

        For two classes it is the difference of the evidence, so that it orders rows as `predict_proba` does.
        """
        scores = self._score(x)
        if scores.shape[1] == 2:
            scores = self._evidence(scores).diff(dim=1).squeeze(1)
        return scores.cpu().numpy()

    def predict_proba(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return one probability a class (n, c), calibrated on draws that the model was not solved with."""
        evidence = self._evidence(self._score(x))
        return torch.softmax(self._sharpness() * evidence, dim=1).cpu().numpy()

    def _score(self, x: ArrayLike | Tensor) -> Tensor:
        return self._in_blocks(x, self._scores)

    def _in_blocks(self, x: ArrayLike | Tensor, compute: Callable[[Tensor, Any], Tensor]) -> Tensor:
        """Return compute(prepared rows, solution) for all rows, a bounded number at a time."""
        self._check_learned()
        rows = check_features(self, x, self.dtype)
        solution = self._solution()
        results: Tensor | None = None
        for block in row_blocks(len(rows), self._block_rows):
            result = compute(self._prepare(torch.tensor(rows[block], device=self.device)), solution)
            if results is None:  # whole at once: small results kept between large blocks would tear the heap into holes
                results = result.new_empty(len(rows), *result.shape[1:])
            results[block] = result
        assert results is not None
        return results

    def _solution(self) -> Any:
        solved, parameters = self._solved, self.get_params()
        if solved.parameters != parameters:
            self._memory.absorb()
            solved.solution, solved.sharpness = self._solve(), None
            solved.parameters = parameters
        return solved.solution

    def _sharpness(self) -> float:
        solution = self._solution()
        if self._solved.sharpness is None:
            draws = mixed_draws(self._memory.moments, CALIBRATION_ROWS, seed=self.random_state)
            rows = draws.rows.to(self._torch_dtype)
            blocks = row_blocks(len(rows), self._block_rows)
            scores = torch.cat([self._scores(rows[block], solution) for block in blocks])
            self._solved.sharpness = sharpness(self._evidence(scores), draws)
        return self._solved.sharpness

    # Keeping ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model to one safetensors file, all or nothing; `anacp.load` reads it back."""
        write_model(path, *self._contents())

    def _contents(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return header and tensors of a model file; `_restore` takes them back."""
        self._check_learned()
        header = {
            "learner": type(self).__name__,
            "parameters": self.get_params() | {"device": "cpu"},
            "classes": self.classes_.tolist(),
            "classes_dtype": self.classes_.dtype.str,
            "n_features": self.n_features_in_,
            "feature_names": getattr(self, "feature_names_in_", np.empty(0)).tolist(),
        }
        return header, self._memory.tensors()

    def _restore(self, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        self._check_parameters()
        self.n_features_in_ = header["n_features"]
        if header["feature_names"]:
            self.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        self._begin(np.array(header["classes"], dtype=np.dtype(header["classes_dtype"])))
        self._memory.load_(tensors)

    def parts(
        self, *, n_features: int | None = None, n_classes: int | None = None, n_rows: int | None = None
    ) -> list[Part]:
        """Return what the model stores, part by part; with sizes given, what it would store of such data.

        Symmetric matrices count their distinct numbers, as in a model file. The number of rows matters only to methods
        that keep some of them.
        """
        if n_features is None and n_classes is None and n_rows is None:
            self._check_learned()
            self._memory.absorb()
            statistics = {name: statistic.outline() for name, statistic in self._memory.statistics.items()}
        else:
            n_features, n_classes, n_rows = self._sizes(n_features, n_classes, n_rows)
            empty = self._statistics(n_features, "meta").items()
            statistics = {name: statistic.expected(n_classes, n_rows) for name, statistic in empty}
        return [
            Part(f"{name} {part}", tensor.numel(), tensor.numel() * tensor.element_size())
            for name, statistic in statistics.items()
            for part, tensor in statistic.tensors().items()
        ]

    def summary(
        self, *, n_features: int | None = None, n_classes: int | None = None, n_rows: int | None = None
    ) -> None:
        """Print what is stored, numbers and bytes by part. Give sizes to see the cost before it is paid."""
        parts = self.parts(n_features=n_features, n_classes=n_classes, n_rows=n_rows)
        n_features, n_classes, _ = self._sizes(n_features, n_classes, n_rows)
        rebuilt = self._rebuilt(n_features, n_classes)
        print(table(f"{type(self).__name__}: {n_classes} classes, {n_features} features", parts, rebuilt))

    def _sizes(self, n_features: int | None, n_classes: int | None, n_rows: int | None) -> tuple[int, int, int]:
        """Fill in what is not given from what was learned; the number of rows may stay unknown."""
        if n_features is None or n_classes is None:
            self._check_learned()
        if n_rows is None:
            n_rows = self._memory.moments.n if self._learned else 0
        return n_features or self.n_features_in_, n_classes or len(self.classes_), n_rows

    # Checks -----------------------------------------------------------------------------------------------------

    @property
    def _learned(self) -> bool:
        return "_memory" in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned

    def _check_learned(self) -> None:
        if not self._learned:
            raise NotLearnedError(
                f"This {type(self).__name__} has learned nothing yet. Call `partial_fit` or `fit` with examples first."
            )
        self._check_parameters()
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Refuse parameters that were changed although the statistics depend on them."""
        before, now = self._learned_with, self.get_params()
        changed = [
            name for name in now if now[name] != before[name] and not self._may_change(name, before[name], now[name])
        ]
        if changed:
            free = ", ".join(sorted(self._solve_parameters)) or "none"
            raise ParameterError(
                f"Expected {', '.join(changed)} as when learning began, got another value. What was learned depends "
                f"on it: set it back, or call `fit`. Parameters that may change: {free}."
            )

    def _may_change(self, name: str, before: object, now: object) -> bool:
        """Say whether a parameter may change in this way without learning anew."""
        return name in self._solve_parameters

    def _check_kind(self, labels: Labels) -> None:
        expected, got = label_kind(self.classes_), label_kind(labels)
        if expected != got:
            raise InputError(
                f"Expected labels of the kind learned before ({expected}), got {got}. Convert them to one kind first."
            )

    @property
    def _torch_dtype(self) -> torch.dtype:
        return cast(torch.dtype, getattr(torch, self.dtype))
