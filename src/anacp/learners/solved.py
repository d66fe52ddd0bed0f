"""A solved learner as its file has it: from features to probabilities by NumPy alone.

torch and scikit-learn take seconds to import, scoring a row takes a millisecond. What is not certain to come out as the
learner itself would have it (a solution that is not whole, rows of odd size, scores that are not finite) is left to
the learner, which is loaded then: here it is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.errors import NumericalError
from anacp.files import TensorFile
from anacp.labels import Labels
from anacp.learners.constraints import LARGEST_ENSEMBLE
from anacp.learners.familiarity import BY, By, Familiarity, check_share
from anacp.learners.formulas import cosine_scores, feature_scores, linear_scores, log_positive_part, replayed_scores
from anacp.learners.header import FAMILIARITY, SOLUTION
from anacp.learners.members import member_parameters, prefix
from anacp.learners.stored_labels import sorted_labels
from anacp.projections import PLAIN_ACTIVATIONS, ContrastiveProjection, plain_projection

Array = NDArray[Any]
Scores = Callable[[Array], Array]  # of rows (n, d), one a class (n, c)
Projection = Callable[[Mapping[str, Any], int, str], Scores | None]  # of parameters, a width and a role

# Between these, squares and their sums neither overflow nor vanish in float32.
SMALLEST, LARGEST = 1e-12, 1e15
# Of a probability. Beyond it, sums that are taken in another order may show: only the learner itself repeats its own.
LARGEST_ROUNDING = 2.5e-6
ROWS_AT_ONCE = 256
# Of how much familiarity varies. So near to a threshold, sums that are taken in another order may decide.
LARGEST_DOUBT = 1e-5
COUNTS = "moments.counts"


@dataclass(frozen=True)
class SolvedLearner:
    """Classes, scores and the sharpness of probabilities."""

    classes: Labels
    n_features: int
    dtype: str
    sharpness: float
    scores: Scores
    fitted_to_labels: bool  # by least squares: scores are rough probabilities, not log-odds
    prepare: Scores  # of rows: as the statistics see them
    familiarity: Familiarity | None

    @classmethod
    def of(cls, file: TensorFile, projection: Projection = plain_projection) -> SolvedLearner | None:
        """Return the learner of a file whose header was checked; None if only the learner itself can answer."""
        header = file.header
        make, parameters = SCORES.get(header["learner"]), header["parameters"]
        solution = header.get("solution")
        named = bool(header["feature_names"])  # scikit-learn compares them with those of the rows
        if make is None or solution is None or solution["sharpness"] is None or named or not file.sealed:
            return None
        classes = sorted_labels(file)
        parts = Parts(file, parameters, header["n_features"], len(classes), projection)
        try:
            scores, least_squares = make(parts)
        except (KeyError, ValueError, TypeError):  # refused, and in words, by the learner itself
            return None
        if scores is None or not parts.are_whole():
            return None
        width, sharpness = header["n_features"], solution["sharpness"]
        familiarity = parts.familiarity() if solution.get("familiarity") else None
        return cls(classes, width, parts.dtype, sharpness, scores, least_squares, parts.prepare, familiarity)

    def above(self, x: Array, *, keep: float, by: By) -> Array | None:
        """Return the familiarity (n,) of features (n, d); None if only the learner itself can answer.

        The features must be those that `probabilities` has answered for.
        """
        check_share(keep, by)
        measure = self.familiarity
        if measure is None:
            return None
        blocks = (x[start : start + ROWS_AT_ONCE].astype(self.dtype) for start in range(0, len(x), ROWS_AT_ONCE))
        with np.errstate(all="ignore"):
            found = [measure.above(self.prepare(rows), self.scores(rows), keep=keep, by=by) for rows in blocks]
        heights = np.concatenate(found)
        size = np.ptp(measure.levels[BY.index(by)]) or 1.0
        certain = np.isfinite(heights).all() and (abs(heights) > LARGEST_DOUBT * size).all()
        return heights if certain else None

    def probabilities(self, x: Array) -> Array | None:
        """Return one probability a class (n, c) for features (n, d); None if only the learner itself can answer."""
        if x.ndim != 2 or not len(x) or x.shape[1] != self.n_features or x.dtype.kind not in "fiu":
            return None
        with np.errstate(all="ignore"):
            blocks = [self._block(x[start : start + ROWS_AT_ONCE]) for start in range(0, len(x), ROWS_AT_ONCE)]
        return None if any(block is None for block in blocks) else np.concatenate([b for b in blocks if b is not None])

    def _evidence(self, scores: Array) -> Array:
        return log_positive_part(scores, np, lambda x: np.logaddexp(x, 0)) if self.fitted_to_labels else scores

    def _block(self, x: Array) -> Array | None:
        rows = x.astype(self.dtype)
        largest = abs(rows).max(1)
        if not ((largest == 0) | ((largest >= SMALLEST) & (largest <= LARGEST))).all():
            return None
        try:
            scores = self.scores(rows)
        except NumericalError:
            return None
        evidence = self._evidence(scores).astype(np.float64)
        logits = self.sharpness * (evidence - evidence.max(1, keepdims=True))
        if not (np.isfinite(scores).all() and np.isfinite(logits).all()):
            return None
        odds = np.exp(logits)
        probabilities = odds / odds.sum(1, keepdims=True)
        # What the last digit of the evidence is worth.
        rounding = self.sharpness * np.finfo(self.dtype).eps * abs(evidence) * probabilities * (1 - probabilities)
        return np.asarray(probabilities, self.dtype) if rounding.max() <= LARGEST_ROUNDING else None


@dataclass(frozen=True)
class Parts:
    """What a solved file has to score with; its tensors are read when they are asked for."""

    file: TensorFile
    parameters: Mapping[str, Any]
    n_features: int
    n_classes: int
    projection: Projection
    used: set[str] = field(default_factory=set)
    prefix: str = ""  # of the names of tensors

    @property
    def dtype(self) -> Any:
        """The precision that the file states."""
        return self.parameters.get("dtype", "float32")

    def are_whole(self) -> bool:
        """Say whether all else that loading would look at is as it must be: what is not is left to loading."""
        sizes = self.file.sizes()
        if f"{SOLUTION}ridge" in sizes:  # says how weights were solved, and is not needed to score
            self.file.array(f"{SOLUTION}ridge")
        if sizes.get(COUNTS) != (self.n_classes,) or self.file.array(COUNTS).min() <= 0:
            return False
        return self.file.sizes(SOLUTION).keys() <= self.used | {"ridge"} and self.dtype in ("float32", "float64")

    def check(self, name: str, *shape: int) -> None:
        """Raise a `ValueError` if a tensor is of another shape; before anything of that size is made."""
        if self.file.sizes(SOLUTION)[self.prefix + name] != shape:
            raise ValueError(f"{name} is of another shape")

    def tensor(self, name: str, *shape: int) -> Array:
        """Return a tensor, or raise a `ValueError` if it is of another shape or precision."""
        self.check(name, *shape)
        found = self.file.array(f"{SOLUTION}{self.prefix}{name}")
        if str(found.dtype) != self.dtype:
            raise ValueError(f"{name} is of another precision")
        self.used.add(self.prefix + name)
        return found

    def familiarity(self) -> Familiarity | None:
        """Return what measures familiarity; None if it is not whole, which the learner itself says in words."""
        try:
            found = self.file.sizes(FAMILIARITY).get("background", ())
            outline = Familiarity.outline(self.n_features, self.n_classes, self.dtype, found=found)
            return Familiarity.restored(self.file.arrays(FAMILIARITY), outline)
        except ValueError:
            return None

    @property
    def prepare(self) -> Scores:
        """What makes of rows what the statistics see: they are scaled to length one, or left as they are."""
        unit = self.parameters.get("normalize", "n_members" in self.parameters) in (True, "inputs")
        return unit_rows if unit else np.asarray

    def of_member(self, member: int) -> Parts:
        """Return what one of several averaged ones has."""
        return replace(self, parameters=member_parameters(self.parameters, member), prefix=prefix(member))

    def projected(self, role: str) -> Scores | None:
        """Return the random features of a role; None if only torch can draw them."""
        return self.projection(self.parameters, self.n_features, role)


Made = tuple[Scores | None, bool]  # the scores, and whether they were fitted to labels by least squares


def unit_rows(rows: Array) -> Array:
    """Return rows (n, d) of ordinary size scaled to length one; zeros stay zeros."""
    lengths = (rows * rows).sum(1) ** 0.5
    return np.asarray(rows / np.where(lengths > 0, lengths, 1)[:, None])


class OrdinaryProjection(ContrastiveProjection):
    """The contrastive projection of rows whose squares a precision holds; torch takes care of others."""

    def _scaled_odd(self, coefficients: Any, odd: Any) -> Any:
        raise NumericalError("Expected rows of ordinary size, got others. Load the model: torch brings them near one.")


def _ncm(parts: Parts) -> Made:
    means = parts.tensor("means", parts.n_classes, parts.n_features)
    return lambda x: cosine_scores(x, means, unit_rows), False


def _linear(parts: Parts) -> Made:
    weights = parts.tensor("weights", parts.n_features, parts.n_classes)
    biases = parts.tensor("biases", parts.n_classes)
    return lambda x: linear_scores(x, weights, biases), False


def _ridge(parts: Parts) -> Made:
    weights = parts.tensor("weights", parts.n_features + 1, parts.n_classes)
    return lambda x: feature_scores(x, _with_constant, weights), True


def _random_ridge(parts: Parts) -> Made:
    shape = parts.parameters["n_projected"], parts.n_classes
    parts.check("weights", *shape)
    features = parts.projected("projection")
    if features is None:
        return None, True
    weights = parts.tensor("weights", *shape)
    return lambda x: feature_scores(parts.prepare(x), features, weights), True


def _anacp(parts: Parts) -> Made:
    stated, n_classes, size = parts.parameters, parts.n_classes, parts.parameters["n_projected"]
    elm, n_heads = stated["classifier"] == "elm", stated["n_heads"]
    if not 0 <= n_heads <= LARGEST_ENSEMBLE:
        raise ValueError("no such number of heads")
    few, width = n_classes <= parts.n_features, min(n_classes, parts.n_features)
    for name, columns in [(f"head {h}", width) for h in range(n_heads)] + [("weights", n_classes)] * elm:
        parts.check(name, size, columns)
    roles = [f"head {h}" for h in range(n_heads)] or ["classifier"] * elm
    projections: list[Any] = [parts.projected(role) for role in roles]
    if None in projections:
        return None, elm
    prepare = parts.prepare
    if n_heads == 0 and elm:
        weights = parts.tensor("weights", size, n_classes)
        return lambda x: feature_scores(prepare(x), projections[0], weights), True
    prototypes: Any = parts.tensor("prototypes", n_classes, parts.n_features) if few or not elm else None
    if n_heads == 0:
        return lambda x: cosine_scores(prepare(x), unit_rows(prototypes), unit_rows), False
    heads = [parts.tensor(f"head {h}", size, width) for h in range(n_heads)]
    contrastive: Any = OrdinaryProjection  # of tensors, as far as types say
    adapt = contrastive(projections, heads, prototypes if few else None, stated["normalize"] in (True, "heads"))
    if not elm:
        return lambda x: cosine_scores(adapt(prepare(x)), unit_rows(prototypes), unit_rows), False
    if not few:
        features = parts.projected("classifier")
        if features is None:
            return None, True
        weights = parts.tensor("weights", size, n_classes)
        return lambda x: feature_scores(adapt.coefficients(prepare(x)), features, weights), True
    readout, weights = parts.tensor("readout", n_classes, size), parts.tensor("weights", size, n_classes)
    activate = PLAIN_ACTIVATIONS[stated["activation"]]
    return lambda x: replayed_scores(adapt.coefficients(prepare(x)), readout, activate, weights), True


def _averaged(parts: Parts) -> Made:
    n_members = parts.parameters["n_members"]
    if not 1 <= n_members <= LARGEST_ENSEMBLE:
        raise ValueError("no such number of members")
    members = [_anacp(parts.of_member(i))[0] for i in range(n_members)]
    made = [scores for scores in members if scores is not None]
    if len(made) < n_members:
        return None, True
    return lambda x: sum(scores(x) for scores in made) / n_members, True


def _with_constant(x: Array) -> Array:
    return np.concatenate([x, np.ones((len(x), 1), x.dtype)], 1)


# By the names that files have for learners.
SCORES: dict[str, Callable[[Parts], Made]] = {
    "AnaCP": _anacp,
    "AveragedAnaCP": _averaged,
    "ELM": _random_ridge,
    "GACL": _random_ridge,
    "LinearProbe": _linear,
    "LoRanPAC": _random_ridge,
    "NCM": _ncm,
    "RanPAC": _random_ridge,
    "Ridge": _ridge,
    "SLDA": _linear,
}
