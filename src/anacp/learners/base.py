"""What every learner is: a scikit-learn classifier that goes on learning, and solves when it is asked."""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, get_args, get_origin

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, clone
from sklearn.utils.metaestimators import available_if
from torch import Tensor

from anacp.errors import InputError, MismatchError, NotLearnedError, NumericalError
from anacp.files import write_tensors
from anacp.labels import Labels, label_array
from anacp.learners.calibration import matched_sharpness, probabilities, sharpness, squared_errors
from anacp.learners.constraints import Constraint, check_parameters, choice, whole
from anacp.learners.familiarity import KEEP, By, Familiarity, check_share, check_unknown, or_unknown
from anacp.learners.header import MODEL
from anacp.learners.inputs import Rows, Weights, check_examples, check_features, check_kind, dense, row_parts
from anacp.learners.knowledge import Knowledge
from anacp.learners.memory import WAITING_ROWS, Memory, StoredPart, stored_parts, summary_table
from anacp.learners.model_file import contents
from anacp.learners.reference import Reference, made_reference
from anacp.learners.regression import Regression
from anacp.learners.solution import Solution, Solved
from anacp.learners.unknown import measured_familiarity
from anacp.statistics import BLOCK_ROWS, Statistic, row_blocks, widest
from anacp.threads import OwnLock
from anacp.words import listed

# What a learner gains by learning. Only what is ours: scikit-learn hangs attributes of its own on an estimator.
LEARNED = ("_knowledge", "n_features_in_", "feature_names_in_")
# Scores that are computed at a time, of many classes for fewer rows; but fewer than those read weights too often.
SCORES_AT_ONCE, FEWEST_ROWS = 2**22, 16

S = TypeVar("S", bound=Solution)


class Learner(ClassifierMixin, BaseEstimator, ABC, Generic[S]):  # type: ignore[misc]
    """A scikit-learn classifier that may meet new classes at any time.

    A method says which statistics it keeps (`_statistics`), what it solves from them (`_solve`), and how that scores
    a row (`_scores`); everything else is written once. `partial_fit` only adds to the statistics; the first prediction
    after it solves, once. All results depend on the data learned, never on its order or its batches.

    Any number of threads may use one learner: what reads works on a snapshot, what changes it comes one at a time and
    takes effect at once and whole.
    """

    # The range of each parameter; those that a class inherits hold too.
    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "random_state": whole(),
        "dtype": choice("float32", "float64"),
    }
    # Parameters that files of earlier versions do not state, where their default is not what held then.
    _before_stated: ClassVar[Mapping[str, Any]] = {}
    _solution_type: ClassVar[type[Solution]]
    _block_rows: ClassVar[int] = BLOCK_ROWS  # rows scored at a time, fewer of so many classes

    random_state: int
    device: str
    dtype: str
    n_features_in_: int
    features_from: str | None = None  # what made the features, where somebody says so; a file keeps it
    _knowledge: Knowledge[S]

    def __init_subclass__(cls, *, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherited = [base.__dict__.get("_constraints", {}) for base in reversed(cls.__mro__)]
        cls._constraints = {name: one for constraints in inherited for name, one in constraints.items()}
        for base in getattr(cls, "__orig_bases__", ()):
            stated = get_args(base)[:1] if get_origin(base) is not None else ()
            if stated and isinstance(stated[0], type) and issubclass(stated[0], Solution):
                cls._solution_type = stated[0]
        missing = [name for name in dir(cls) if getattr(getattr(cls, name, None), "__isabstractmethod__", False)]
        if missing and not abstract:
            raise TypeError(f"Expected the learner {cls.__name__} to define {', '.join(missing)}, got none of its own.")

    # What a method says of itself -------------------------------------------------------------------------------

    @abstractmethod
    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        """Return what this method keeps, empty; one entry is "moments"."""

    @abstractmethod
    def _solve(self, memory: Memory, before: S | None) -> S:
        """Return what is solved from the statistics; parts of an earlier solution may be used again."""

    @abstractmethod
    def _scores(self, x: Tensor, solution: S) -> Tensor:
        """Return one score a class (n, c) for prepared rows (n, d); the largest wins."""

    def _restored(self, tensors: Mapping[str, Tensor], memory: Memory) -> S:
        """Return the solution whose tensors a model file kept."""
        return cast(S, self._solution_type.restored(tensors))

    def _outline(self, n_features: int, n_classes: int) -> Mapping[str, Tensor] | None:
        """Return the tensors of a solution without their numbers (`_sized`): a file that has others is refused.

        None: this is not said, and whatever tensors a file has are taken.
        """
        return None

    def _former_outline(self, n_features: int, n_classes: int) -> Mapping[str, Tensor] | None:
        """Return the same as files of earlier versions have it, if that was other; a file may have either."""
        return None

    def _sized(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Return a tensor without numbers, in the precision of the scores if no other is given."""
        return torch.empty(shape, dtype=dtype or self._torch_dtype, device="meta")

    def _portable(self, solution: S) -> S:
        """Return what `_scores` of an exported graph takes in place of the solution."""
        return solution.portable()

    def _evidence(self, scores: Tensor) -> Tensor:
        """Return what grows in proportion to the log-odds: probabilities are softmax(β·evidence)."""
        return scores

    def _regression(self, memory: Memory, solution: S) -> Regression | None:
        """Return a regression of one-hot labels that was solved on the way, if there is one; draws are judged by it."""
        return None

    def _check_left(self, memory: Memory) -> None:
        """Refuse what unlearning would leave, where this method could not solve it well: by a `NumericalError`."""

    def _ridges(self) -> dict[str, float]:
        """Return the λ of each Gram matrix that may be stored in fewer bits: how much these do depends on it."""
        return {}

    def _prepare(self, x: Tensor) -> Tensor:
        """Return the rows as the statistics and scores see them."""
        return x

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        """Return how many numbers are rebuilt from seed and statistics instead of stored, by name."""
        return {}

    @property
    def _torch_dtype(self) -> torch.dtype:
        return cast(torch.dtype, getattr(torch, self.dtype))

    # Learning ---------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> Labels:
        """The classes learned so far, sorted."""
        known = self._snapshot()
        known._check_learned()
        return known._knowledge.memory.classes

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return cast(list[str], super()._get_param_names())  # read off the signature, which takes longer than a row

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those that matter only when solving take effect with the next prediction."""
        with self._turn:
            changed = copy.copy(self)
            super(Learner, changed).set_params(**params)
            self.__dict__.update({name: vars(changed)[name] for name in params})
        return self

    def fit(
        self, x: ArrayLike | Tensor, y: ArrayLike | Tensor, sample_weight: ArrayLike | Tensor | None = None
    ) -> Self:
        """Forget everything, then learn these examples.

        Parameters
        ----------
        x : array-like or tensor of shape (n, d)
            Features; a sparse matrix of scipy is taken some rows at a time.
        y : array-like or tensor of shape (n,)
            Labels: text, numbers or booleans.
        sample_weight : array-like of shape (n,), optional
            How many times each row counts: 2 is the row given twice, 0 the row left out.
        """
        with self._turn:
            return self._become(clone(self).partial_fit(x, y, sample_weight=sample_weight))

    def partial_fit(
        self,
        x: ArrayLike | Tensor,
        y: ArrayLike | Tensor,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | Tensor | None = None,
    ) -> Self:
        """Learn more examples, of old classes, new classes, or both. If this fails, nothing has changed.

        Parameters
        ----------
        x : array-like or tensor of shape (n, d)
            Features; a sparse matrix of scipy is taken some rows at a time.
        y : array-like or tensor of shape (n,)
            Labels. They need not have been announced.
        classes : ignored
            Accepted because scikit-learn's `partial_fit` has it. A class without examples is never predicted.
        sample_weight : array-like of shape (n,), optional
            How many times each row counts, as for `fit`. Methods that keep rows themselves (`LinearProbe`, and λ by
            "accuracy") take whole numbers only.
        """
        with self._turn:
            twin = self._snapshot()
            known = vars(twin).get("_knowledge")
            twin._check_parameters(known)
            rows, labels, weights = check_examples(twin, x, y, sample_weight, twin.dtype, first=known is None)
            if known is None:
                empty = twin._statistics(twin.n_features_in_, twin.device)
                known = Knowledge(Memory(empty, labels[:0], twin.device), twin.get_params())
            check_kind(known.memory.classes, labels)
            memory = known.memory
            for part in twin._parts(rows, labels, weights):
                memory = memory.learned(*part)
            twin._knowledge = known.after(memory)
            return self._become(twin)

    def unlearn(
        self, x: ArrayLike | Tensor, y: ArrayLike | Tensor, sample_weight: ArrayLike | Tensor | None = None
    ) -> Self:
        """Take examples out again, exactly: the model becomes the one that never saw them.

        A class whose last example goes is forgotten. The examples must have been learned before, with at least the
        weight that is given; what can be checked (the class is known, and has that many examples) is checked, and a
        refusal changes nothing.
        """
        with self._turn:
            twin = self._snapshot()
            known = twin._known()
            rows, labels, weights = check_examples(twin, x, y, sample_weight, twin.dtype, first=False)
            check_kind(known.memory.classes, labels)
            left = known.memory
            for part in twin._parts(rows, labels, weights):
                left = left.unlearned(*part)
            if len(left.classes):
                twin._check_left(left)
            return self._become(twin._with(known.after(left)))

    def unlearn_class(self, label: object) -> Self:
        """Take a class out exactly, without its examples. Only for methods that keep every class apart.

        Raises
        ------
        InputError
            If the class is unknown, or if this method pools classes: then `unlearn` its examples.
        """
        with self._turn:
            twin = self._snapshot()
            known = twin._known()
            return self._become(twin._with(known.after(known.memory.without(label, type(self).__name__))))

    def relabel(
        self,
        x: ArrayLike | Tensor,
        y: ArrayLike | Tensor,
        label: object,
        sample_weight: ArrayLike | Tensor | None = None,
    ) -> Self:
        """Move examples that were learned as `y` to another class, old or new, in one step: as if never learned else.

        If this fails, nothing has changed.
        """
        with self._turn:
            twin = self._snapshot()
            check_kind(twin.classes_, np.asarray([label]))
            names = np.full(np.shape(y), label) if np.ndim(y) else y
            moved = twin.partial_fit(x, names, sample_weight=sample_weight).unlearn(x, y, sample_weight=sample_weight)
            return self._become(moved)

    def rename(self, old: object, new: object) -> Self:
        """Give a class another name; its examples stay as they are."""
        with self._turn:
            twin = self._snapshot()
            return self._become(twin._relabelled({old: new}, taken=()))

    def join(self, classes: Iterable[object], into: object) -> Self:
        """Make classes one, called `into`: one of them, another class that was learned, or a new name.

        Exact: the model becomes the one that learned all their examples under that name.
        """
        with self._turn:
            twin = self._snapshot()
            return self._become(twin._relabelled(dict.fromkeys(classes, into), taken=(into,)))

    def _relabelled(self, names: Mapping[object, object], *, taken: Iterable[object]) -> Self:
        """Give a snapshot other names of classes; those that exist may be given only if they are `taken`."""
        known = self._known()
        classes = known.memory.classes.tolist()
        unknown = [label for label in names if label not in classes]
        if unknown or not names:
            got = listed(unknown) if unknown else "none"
            raise InputError(f"Expected classes learned before, got {got}. Known: {listed(classes)}.")
        for new in set(names.values()) - set(taken):
            if new in classes and names != {new: new}:
                raise InputError(f"Expected a name that no class has, got {new!r}. To make two classes one, join them.")
        for new in set(names.values()):
            check_kind(known.memory.classes, np.asarray([new]))
        relabelled: list[Any] = [names.get(label, label) for label in classes]
        given = label_array(relabelled)
        before = known.memory.classes.dtype
        given = given if before.kind == "U" and given.dtype.kind == "U" else given.astype(before)
        return self._with(known.after(known.memory.relabelled(given)))

    def __add__(self, other: Self) -> Self:
        """Return a new model: the one that learned the data of both."""
        if not isinstance(other, type(self)):
            return NotImplemented
        one, two = self._snapshot(), other._snapshot()
        mine, theirs = one.get_params(), two.get_params()
        differing = [f"{name} ({mine[name]!r} and {theirs[name]!r})" for name in mine if mine[name] != theirs[name]]
        if differing:
            raise MismatchError(f"Expected models of equal parameters, got different {', '.join(differing)}.")
        if not (one._learned and two._learned):
            return one if one._learned else two
        known, others = one._known(), two._known()
        if one.n_features_in_ != two.n_features_in_:
            raise MismatchError(
                f"Expected two models of one width, got {one.n_features_in_} and {two.n_features_in_} features. "
                "Both must learn features of the same backbone."
            )
        check_kind(known.memory.classes, others.memory.classes)
        return one._with(Knowledge(known.memory + others.memory, known.parameters))

    def __radd__(self, other: object) -> Self:
        """Let `sum(models)` work."""
        return self._snapshot() if other == 0 else NotImplemented

    @property
    def _turn(self) -> OwnLock:
        """What a thread holds while it changes this learner; made when it is needed first."""
        return cast(OwnLock, self.__dict__.setdefault("_lock", OwnLock()))

    def _snapshot(self) -> Self:
        """Return a learner that is as this one is now, and stays so: what is known is a value."""
        twin = copy.copy(self)
        twin.__dict__.pop("_lock", None)
        return twin

    def _with(self, known: Knowledge[S]) -> Self:
        """Give a snapshot other knowledge, or none if no class is left."""
        self._knowledge = known
        if not len(known.memory.classes):
            for name in LEARNED:
                self.__dict__.pop(name, None)
        return self

    def _become(self, changed: Self) -> Self:
        """Take over what a changed snapshot has learned, in one step: who reads sees all of it or nothing."""
        kept = {name: value for name, value in dict(vars(self)).items() if name not in LEARNED}
        self.__dict__ = kept | {name: value for name, value in vars(changed).items() if name in LEARNED}
        return self

    @property
    def _learned(self) -> bool:
        return "_knowledge" in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned

    def _known(self) -> Knowledge[S]:
        """Return what is known, or say that nothing is, or that it was learned with other parameters."""
        self._check_learned()
        self._check_parameters(self._knowledge)
        return self._knowledge

    def _check_learned(self) -> None:
        if not self._learned:
            raise NotLearnedError(
                f"This {type(self).__name__} has learned nothing yet. Call `partial_fit` or `fit` with examples first."
            )

    def _check_parameters(self, known: Knowledge[S] | None = None) -> None:
        """Refuse parameters outside their range, and those that changed although what was learned depends on them."""
        check_parameters(self._constraints, self.get_params(), known.parameters if known else None)

    def _prepared(self, rows: Rows) -> Tensor:
        """Return checked rows on the device, as `_prepare` wants them."""
        return self._prepare(torch.tensor(dense(rows), device=self.device))

    def _parts(
        self, rows: Rows, labels: Labels, weights: Weights | None
    ) -> Iterator[tuple[Tensor, Labels, Tensor | None]]:
        """Yield prepared rows, labels and weights: all at once, or so many of a sparse matrix as wait together."""
        wide = None if weights is None else torch.from_numpy(weights)
        if wide is not None:
            wide = wide.to(self.device, wide.dtype if wide.dtype == torch.int64 else widest(self.device))
        for part in row_parts(rows, WAITING_ROWS):
            yield self._prepared(rows[part]), labels[part], None if wide is None else wide[part]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    # With it, scikit-learn's `set_output` knows what to call the columns of a learner that also transforms.
    get_feature_names_out = available_if(lambda self: hasattr(self, "transform"))(
        ClassNamePrefixFeaturesOutMixin.get_feature_names_out
    )

    # Solving and predicting -------------------------------------------------------------------------------------

    def solve(self, *, probabilities: bool = False, unknown: bool = False) -> Self:
        """Solve now what the first prediction would solve, so that no prediction has to wait for it.

        Parameters
        ----------
        probabilities : bool, default=False
            Calibrate the probabilities too, as the first `predict_proba` would.
        unknown : bool, default=False
            Set the thresholds for *none of these* too, as the first `predict` with `unknown` would.
        """
        model = self._snapshot()
        known = model._known()
        solved = model._solved(known)
        if probabilities:
            model._sharpness(known, solved)
        if unknown:
            model._familiarity(known, solved)
        return self

    def predict(
        self,
        x: ArrayLike | Tensor,
        classes: ArrayLike | None = None,
        *,
        unknown: Any = None,
        keep: float = KEEP,
        by: By = "both",
    ) -> Labels:
        """Return the most likely label of each row.

        Parameters
        ----------
        x : array-like or tensor of shape (n, d)
            Features.
        classes : array-like, optional
            Choose among these classes only (task-incremental use). All must have been learned.
        unknown : label, optional
            The answer for rows that are none of the classes learned: of the kind of the labels, and none of them.
            Without it every row is taken for one of them.
        keep, by : optional
            As for `familiarity`, by which rows are told apart.
        """
        model = self._snapshot()
        names, columns = model._among(classes)

        def winners(rows: Tensor, solution: S) -> Tensor:
            return model._finite_scores(rows, solution)[:, columns].argmax(1)

        if unknown is None:
            return cast(Labels, names[model._in_blocks(x, winners).cpu().numpy()])
        check_unknown(unknown, model.classes_)
        above = model._above(keep, by)

        def judged(rows: Tensor, solution: S) -> Tensor:
            scores = model._finite_scores(rows, solution)
            return torch.stack([scores[:, columns].argmax(1).cpu().double(), above(rows, scores)])

        winner, height = model._in_blocks(x, lambda rows, solution: judged(rows, solution).mT).numpy().T
        return or_unknown(names[winner.astype(np.intp)], height, unknown)

    def _among(self, classes: ArrayLike | None) -> tuple[Labels, Tensor | slice]:
        """Return the classes to choose among, all or some that were learned, and their columns among the scores."""
        known = self._known().memory.classes
        if classes is None:
            return known, slice(None)
        allowed = np.unique(np.asarray(classes))
        missing = np.setdiff1d(allowed, known)
        if len(missing) or not len(allowed):
            got = listed(missing.tolist()) if len(missing) else "none"
            raise InputError(f"Expected classes learned before, got {got}. Learn them first, or leave them out.")
        return allowed, torch.from_numpy(np.searchsorted(known, allowed)).to(self.device)

    def familiarity(self, x: ArrayLike | Tensor, *, keep: float = KEEP, by: By = "both") -> NDArray[np.float64]:
        """Return how far each row lies above the threshold below which it is none of the classes learned.

        Parameters
        ----------
        x : array-like or tensor of shape (n, d)
            Features.
        keep : float, default=0.95
            The share of examples of learned classes that are to lie above it. It is estimated from the model's own
            statistics: no example is held back.
        by : {"both", "score", "distance"}, default="both"
            The largest score, the relative Mahalanobis distance to the remembered Gaussians, or both added in units
            of how much they vary.

        Returns
        -------
        ndarray of shape (n,)
            Negative: none of these.
        """
        model = self._snapshot()
        above = model._above(keep, by)
        heights = model._in_blocks(x, lambda rows, solution: above(rows, model._finite_scores(rows, solution)))
        return np.asarray(heights.numpy())

    def _above(self, keep: float, by: By) -> Callable[[Tensor, Tensor], Tensor]:
        """Return what says of prepared rows and their scores how far each row lies above the threshold."""
        check_share(keep, by)
        known = self._known()
        measure = self._familiarity(known, self._solved(known))

        def above(rows: Tensor, scores: Tensor) -> Tensor:
            heights = measure.above(rows.cpu().numpy(), scores.cpu().numpy(), keep=keep, by=by)
            if not bool(np.isfinite(heights).all()):
                raise NumericalError(
                    f"Expected rows whose distances float64 can hold, got rows of up to {float(rows.abs().max()):.2g} "
                    "in size. Scale the features (such as to length one)."
                )
            return torch.from_numpy(heights)

        return above

    def scores(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return one score a class (n, c), the largest wins; unlike `decision_function`, for two classes too."""
        model = self._snapshot()
        return model._in_blocks(x, model._finite_scores).cpu().numpy()

    def decision_function(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return one score a class (n, c), the largest wins; for two classes one number (n,), the second's if > 0.

        For two classes it is the difference of the evidence, so that it orders rows as `predict_proba` does.
        """
        model = self._snapshot()
        scores = model._in_blocks(x, model._finite_scores)
        if scores.shape[1] == 2:
            scores = model._evidence(scores).diff(dim=1).squeeze(1)
        return scores.cpu().numpy()

    def predict_proba(self, x: ArrayLike | Tensor) -> NDArray[Any]:
        """Return one probability a class (n, c), calibrated on draws that the model was not solved with."""
        return self.classes_and_probabilities(x)[1]

    def classes_and_probabilities(self, x: ArrayLike | Tensor) -> tuple[Labels, NDArray[Any]]:
        """Return the classes (c,) and the probability of each (n, c), of one moment while other threads teach."""
        return self.judged(x)[:2]

    def judged(
        self, x: ArrayLike | Tensor, *, keep: float | None = None, by: By = "both"
    ) -> tuple[Labels, NDArray[Any], NDArray[np.float64] | None]:
        """Return what `classes_and_probabilities` does and, with `keep`, what `familiarity` does, of one moment."""
        model = self._snapshot()
        known = model._known()
        sharp = model._sharpness(known, model._solved(known))
        above = None if keep is None else model._above(keep, by)
        heights: list[Tensor] = []

        def answers(rows: Tensor, solution: S) -> Tensor:
            scores = model._finite_scores(rows, solution)
            if above is not None:
                heights.append(above(rows, scores))
            return probabilities(model._evidence(scores), sharp)

        found = model._in_blocks(x, answers).cpu().numpy()
        return known.memory.classes, found, torch.cat(heights).numpy() if heights else None

    def _finite_scores(self, x: Tensor, solution: S) -> Tensor:
        """Return the scores, or say that they cannot be computed."""
        scores = self._scores(x, solution)
        if not bool(torch.isfinite(scores).all()):
            raise NumericalError(
                f"Expected finite scores, got some that {self.dtype} cannot hold, for rows of up to "
                f"{float(x.abs().max()):.2g} in size. Scale the features (such as to length one), or use "
                "dtype='float64'."
            )
        return scores

    def _in_blocks(self, x: ArrayLike | Tensor, compute: Callable[[Tensor, S], Tensor]) -> Tensor:
        """Return compute(prepared rows, solution) for all rows, a bounded number at a time."""
        known = self._known()
        rows = check_features(self, x, self.dtype)
        solution = self._solved(known).solution
        blocks = ((block, compute(self._prepared(rows[block]), solution)) for block in self._row_blocks(rows.shape[0]))
        return in_one(rows.shape[0], blocks)

    def _solved(self, known: Knowledge[S]) -> Solved[S]:
        """Return the solution for what is known and the parameters as they are; solved now if it must be."""
        return known.solve(self.get_params(), self._solve)

    def _sharpness(self, known: Knowledge[S], solved: Solved[S]) -> float:
        if solved.sharpness is not None:
            return solved.sharpness
        reference = self._reference(known, solved)
        return known.sharpen(solved, lambda: self._sharpness_by(reference, known, solved.solution))

    def _sharpness_by(self, reference: Reference, known: Knowledge[S], solution: S) -> float:
        """Return the sharpness by draws; where a regression tells how hard real examples are, by draws as hard."""
        evidence, draws = self._evidence_of_drawn(reference), reference.draws
        regression = self._regression(known.memory.absorbed(), solution)
        held_out = None if regression is None else regression.held_out_error()
        if regression is None or held_out is None:
            return sharpness(evidence, draws)
        blocks = ((block, draws.rows[block].to(self._torch_dtype)) for block in self._row_blocks(len(draws.rows)))
        scores = in_one(len(draws.rows), ((block, regression(rows)) for block, rows in blocks))
        return matched_sharpness(evidence, draws, squared_errors(scores, draws), held_out)

    def _familiarity(self, known: Knowledge[S], solved: Solved[S]) -> Familiarity:
        if solved.familiarity is not None:
            return solved.familiarity
        reference = self._reference(known, solved)
        return known.measure(solved, lambda: measured_familiarity(known.memory.moments, reference, dtype=self.dtype))

    def _reference(self, known: Knowledge[S], solved: Solved[S]) -> Reference:
        """Return what both of these are set by, drawn and scored once."""

        def scores(rows: Tensor) -> Tensor:
            return self._scores_of_drawn(rows, solved.solution)

        return known.refer(solved, lambda: made_reference(known.memory.moments, scores, seed=self.random_state))

    def _scores_of_drawn(self, rows: Tensor, solution: S) -> Tensor:
        """Return the scores of rows as the statistics see them, a bounded number at a time."""
        blocks = ((block, rows[block].to(self._torch_dtype)) for block in self._row_blocks(len(rows)))
        return in_one(len(rows), ((block, self._finite_scores(prepared, solution)) for block, prepared in blocks))

    def _evidence_of_drawn(self, reference: Reference) -> Tensor:
        scores = reference.scores
        return in_one(len(scores), ((block, self._evidence(scores[block])) for block in self._row_blocks(len(scores))))

    def _row_blocks(self, n_rows: int) -> Iterator[slice]:
        """Cut a number of rows into slices whose scores take a bounded memory."""
        at_once = SCORES_AT_ONCE // len(self._knowledge.memory.classes)
        return row_blocks(n_rows, min(self._block_rows, max(FEWEST_ROWS, at_once)))

    # Files and sizes --------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, exact: bool = False, solution: bool | None = None) -> None:
        """Write the model to one safetensors file, all or nothing; `anacp.load` reads it back.

        A model that is solved (by `solve` or a prediction) is saved with its solution and predicts at once when it is
        loaded; one that is not solves on its first prediction.

        Parameters
        ----------
        path : str or path
            Where.
        exact : bool, default=False
            Keep every bit. By default AnaCP's large Gram matrices are stored in 8 bits an entry where that moves the
            solved weights by little (`anacp.statistics.LARGEST_EFFECT` at most, by estimate), a quarter of the size.
        solution : bool, optional
            Keep the solution of a solved model, or leave it out. By default it is left out only where the statistics
            are in fewer bits and the solution is larger than 8 MB: it is then solved again on the first prediction.
        """
        header, tensors = contents(self._snapshot(), exact=exact, solution=solution)
        write_tensors(path, MODEL, {"kind": "learner", **header}, tensors)

    def parts(
        self, *, n_features: int | None = None, n_classes: int | None = None, n_rows: int | None = None
    ) -> list[StoredPart]:
        """Return what the model stores, part by part; with sizes given, what it would store of such data.

        Symmetric matrices count their distinct numbers, as in an exact model file; one in fewer bits is smaller. The
        number of rows matters only to methods that keep some of them. A solution is not counted: it can always be
        solved again.
        """
        model = self._snapshot()
        if n_features is None and n_classes is None and n_rows is None:
            return model._known().memory.parts()
        model._check_parameters()
        n_features, n_classes, n_rows = model._sizes(n_features, n_classes, n_rows)
        empty = model._statistics(n_features, "meta").items()
        return stored_parts({name: statistic.expected(n_classes, n_rows) for name, statistic in empty})

    def summary(
        self, *, n_features: int | None = None, n_classes: int | None = None, n_rows: int | None = None
    ) -> None:
        """Print what is stored, numbers and bytes by part. Give sizes to see the cost before it is paid."""
        model = self._snapshot()
        parts = model.parts(n_features=n_features, n_classes=n_classes, n_rows=n_rows)
        n_features, n_classes, _ = model._sizes(n_features, n_classes, n_rows)
        rebuilt = model._rebuilt(n_features, n_classes)
        print(summary_table(f"{type(self).__name__}: {n_classes} classes, {n_features} features", parts, rebuilt))

    def _sizes(self, n_features: int | None, n_classes: int | None, n_rows: int | None) -> tuple[int, int, int]:
        """Fill in what is not given from what was learned; the number of rows may stay unknown."""
        if n_features is None or n_classes is None:
            self._known()
        if n_rows is None:
            n_rows = math.ceil(self._known().memory.absorbed().moments.n) if self._learned else 0
        return n_features or self.n_features_in_, n_classes or len(self.classes_), n_rows


def in_one(n_rows: int, blocks: Iterable[tuple[slice, Tensor]]) -> Tensor:
    """Return the results (n, …) of blocks of rows as one tensor."""
    results: Tensor | None = None
    for rows, result in blocks:
        if results is None:  # whole at once: small results kept between large blocks would tear the heap into holes
            results = result.new_empty(n_rows, *result.shape[1:])
        if result.dtype != results.dtype:  # numbers of this block need more room
            results = results.to(torch.promote_types(result.dtype, results.dtype))
        results[rows] = result
    assert results is not None
    return results
