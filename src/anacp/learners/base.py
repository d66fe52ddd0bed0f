"""What every learner is: a scikit-learn classifier that goes on learning, and solves when it is asked."""

from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from torch import Tensor

from anacp.errors import InputError
from anacp.learners.calibration import mixed_draws, sharpness
from anacp.learners.inputs import Labels, check_examples, check_features
from anacp.learners.keeping import KeptLearner
from anacp.learners.memory import Memory, listed
from anacp.statistics.base import row_blocks

__all__ = ["Learner"]

# Rows drawn to calibrate probabilities, shared out among the classes.
CALIBRATION_ROWS = 4000


class Learner(ClassifierMixin, KeptLearner):  # type: ignore[misc]
    """A scikit-learn classifier that may meet new classes at any time.

    A method says which statistics it keeps (`_statistics`), what it solves from them (`_solve`), and how that scores
    a row (`_scores`); everything else is written once. `partial_fit` only adds to the statistics; the first prediction
    after it solves, once. All results depend on the data learned, never on its order or its batches.
    """

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
                statistics = self._statistics(self.n_features_in_, self.device)
                self._begin(Memory(statistics, labels[:0], labels[:0], self.device))
            self._check_kind(labels)
            self._memory.learn(self._prepared(rows), labels)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self.classes_ = self._memory.classes
        self._solved.parameters = None
        return self

    def solve(self, *, probabilities: bool = False) -> Self:
        """Solve now what the first prediction would solve, so that no prediction has to wait for it.

        Parameters
        ----------
        probabilities : bool, default=False
            Calibrate the probabilities too, as the first `predict_proba` would.
        """
        self._check_learned()
        if probabilities:
            self._sharpness()
        else:
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
            result = compute(self._prepared(rows[block]), solution)
            if results is None:  # whole at once: small results kept between large blocks would tear the heap into holes
                results = result.new_empty(len(rows), *result.shape[1:])
            results[block] = result
        assert results is not None
        return results

    def _solution(self) -> Any:
        """Return what `_scores` takes; solved now if it must be."""
        solved = self._solved
        if not self._is_solved:
            self._memory.absorb()
            # Laid out as a file would give them back: products differ in the last digit by how numbers lie in memory.
            solution = {name: part.clone(memory_format=torch.contiguous_format) for name, part in self._solve().items()}
            solved.take(solution, self.get_params())
        if solved.predictor is None:
            solved.predictor = self._predictor(solved.solution)
        return solved.predictor

    def _sharpness(self) -> float:
        solution = self._solution()
        if self._solved.sharpness is None:
            draws = mixed_draws(self._memory.moments, CALIBRATION_ROWS, seed=self.random_state)
            rows = draws.rows.to(self._torch_dtype)
            blocks = row_blocks(len(rows), self._block_rows)
            scores = torch.cat([self._scores(rows[block], solution) for block in blocks])
            self._solved.sharpness = sharpness(self._evidence(scores), draws)
        return self._solved.sharpness
