"""FeCAM: a Mahalanobis distance for each class (Goswami et al. 2023)."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

import numpy as np
import torch
from torch import Tensor

from anacp.catalogue import method
from anacp.errors import InputError
from anacp.learners.base import Learner
from anacp.learners.constraints import NOT_NEGATIVE, Constraint, choice, number
from anacp.learners.memory import Memory
from anacp.learners.solution import Solution
from anacp.linalg import cholesky_factor, ordinary_rows, unit_rows
from anacp.statistics import ClassMoments, Statistic
from anacp.threads import OwnLock

# Factors are kept from one prediction to the next up to this size together; beyond, they are computed again.
KEPT_BYTES = 5 * 2**27
# Kept one by one between short-lived matrices of the same size, they would tear the heap into holes as large again.
FACTORS_PER_ALLOCATION = 32
# Columns of a triangular factor a product: narrow enough to skip most zeros, wide enough for full GEMM speed.
TRIANGLE_BLOCK = 256
# A deviation of more than this many binary places from one is taken out before a covariance is factored.
LARGEST_POWER = 40


class KeptRoots:
    """Inverse roots W of class covariances by the state of their class, as many as fit. Threads may share it."""

    def __init__(self, roots: Mapping[bytes, Tensor] | None = None, n_given: int = 0) -> None:
        self.roots = dict(roots or {})
        self._n_given = n_given  # places for roots that were ever given away, of states that are gone too
        self._free: list[Tensor] = []
        self._lock = OwnLock()

    def keep(self, state: bytes, root: Tensor) -> None:
        """Keep a root, if there is room. A place is written once, so that whoever reads it may go on."""
        with self._lock:
            if state in self.roots or (self._n_given + 1) * root.nbytes > KEPT_BYTES:
                return
            if not self._free:
                self._free = list(root.new_empty(FACTORS_PER_ALLOCATION, *root.shape))
            self.roots[state] = self._free.pop().copy_(root)
            self._n_given += 1

    def of(self, states: Iterable[bytes]) -> "KeptRoots":
        """Return the roots of these states; none when most places are taken by states that are gone, to begin anew."""
        with self._lock:
            roots = {state: self.roots[state] for state in states if state in self.roots}
            return KeptRoots(roots, self._n_given) if 2 * len(roots) >= self._n_given else KeptRoots()


@dataclass(frozen=True, eq=False)
class Distances(Solution):
    """Class means, and the inverse roots of covariances: one for all, or one a class, computed when it is needed.

    The roots of all classes are larger than the statistics, so that a file does not keep them.
    """

    means: Tensor  # (c, d)
    root: Tensor | None = None  # W (d, d) with WWᵀ = Λ, where the classes share it
    memory: Memory | None = None  # where they do not: what the roots are computed from
    kept: KeptRoots | None = None
    roots: tuple[Tensor, ...] = ()  # all of them, for a graph that is exported


@method(page="fecam", compared=3)
class FeCAM(Learner[Distances]):
    """The class with the least Mahalanobis distance, under a covariance of its own that is shrunk and normalised.

    Σ + γ₁·mean(diagonal)·I + γ₂·mean(off-diagonal)·(1 - I), scaled to a correlation matrix. A class without spread (one
    example, or equal ones) takes the covariance that is pooled over all classes.

    Parameters
    ----------
    shrinkage : float, default=1.0
        γ₁. Published: 1 on CIFAR-100, 10 on ImageNet-R.
    off_diagonal_shrinkage : float, default=0.0
        γ₂. Published: 0 on CIFAR-100, 10 on ImageNet-R.
    covariance : {"class", "shared"}, default="class"
        One for each class (d² numbers a class), or one for all.
    correlation : bool, default=True
        Scale the shrunk covariance to a correlation matrix.
    tukey : float, optional
        Raise features to this power first (published: 0.5 for features after a ReLU). They must not be negative.
    normalize : bool, default=True
        Scale features to length one.
    random_state : int, default=0
        Seed of the draws that calibrate `predict_proba`; nothing else is random.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of class covariances and scores.

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.FeCAM().partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    _constraints: ClassVar[Mapping[str, Constraint]] = {
        "shrinkage": number(
            "a positive number (few examples give a singular covariance)", lambda value: 0 < value < float("inf")
        ).solving,
        "off_diagonal_shrinkage": NOT_NEGATIVE.solving,
        "covariance": choice("class", "shared"),
        "correlation": choice(True, False).solving,
        "tukey": Constraint("a positive power, or None", lambda value: value is None or 0 < value < float("inf")),
        "normalize": choice(True, False),
    }
    _block_rows = 8192  # many rows share the cost of factoring a covariance

    def __init__(
        self,
        *,
        shrinkage: float = 1.0,
        off_diagonal_shrinkage: float = 0.0,
        covariance: Literal["class", "shared"] = "class",
        correlation: bool = True,
        tukey: float | None = None,
        normalize: bool = True,
        random_state: int = 0,
        device: str = "cpu",
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        self.shrinkage = shrinkage
        self.off_diagonal_shrinkage = off_diagonal_shrinkage
        self.covariance = covariance
        self.correlation = correlation
        self.tukey = tukey
        self.normalize = normalize
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _prepare(self, x: Tensor) -> Tensor:
        if self.tukey is not None:
            if bool((x < 0).any()):
                raise InputError(
                    f"Expected features ≥ 0 for the Tukey power {self.tukey:g}, got {float(x.min()):g}. Use "
                    "tukey=None, or features taken after a ReLU."
                )
            x = x**self.tukey
        return unit_rows(x) if self.normalize else x

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        precision = self._torch_dtype if self.covariance == "class" else torch.float64
        return {"moments": ClassMoments(n_features, spread=self.covariance, device=device, dtype=precision)}

    def _solve(self, memory: Memory, before: Distances | None) -> Distances:
        means = memory.moments.means.to(self._torch_dtype)
        if self.covariance == "shared":
            return Distances(means, self._inverse_root(memory.moments.covariance()))
        kept = before.kept if before and before.kept else KeptRoots()
        states = (self._state(memory.moments, c) for c in range(len(means)))
        return Distances(means, memory=memory, kept=kept.of(states))

    def _restored(self, tensors: Mapping[str, Tensor], memory: Memory) -> Distances:
        if self.covariance == "shared":
            return Distances.restored(tensors)
        return Distances.restored(tensors, memory=memory, kept=KeptRoots())

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        means = {"means": self._sized(n_classes, n_features)}
        return means | ({"root": self._sized(n_features, n_features)} if self.covariance == "shared" else {})

    def _state(self, moments: ClassMoments, c: int) -> bytes:
        """Return a digest of all that the root of a class depends on, so that unchanged classes are factored once."""
        spread = moments.triangles[c].diagonal() if moments.has_scatter(c) else moments.variances()
        digest = hashlib.blake2b(repr((self.shrinkage, self.off_diagonal_shrinkage, self.correlation)).encode())
        for tensor in (moments.counts[c], moments.means[c], spread):
            digest.update(tensor.cpu().numpy().tobytes())
        return digest.digest()

    def _scores(self, x: Tensor, solution: Distances) -> Tensor:
        means = solution.means
        if not bool(ordinary_rows(x).all() and ordinary_rows(means).all()):
            x, means = x.double(), means.double()  # float32 cannot hold the squares
        if solution.root is not None:
            root = solution.root.to(x.dtype)
            return -torch.cdist(x @ root, means @ root).square()
        roots = (self._root_of(c, solution).to(x.dtype) for c in range(len(means)))
        return -torch.stack([_squared_lengths(x - mean, root) for mean, root in zip(means, roots, strict=True)], 1)

    def _portable(self, solution: Distances) -> Distances:
        if solution.root is not None:
            return solution.portable()
        roots = tuple(self._root_of(c, solution) for c in range(len(solution.means)))
        return Distances(solution.means, roots=roots).portable()

    def _root_of(self, c: int, solution: Distances) -> Tensor:
        if solution.roots:
            return solution.roots[c]
        assert solution.memory is not None
        assert solution.kept is not None
        moments = solution.memory.moments
        state = self._state(moments, c)
        kept = solution.kept.roots.get(state)
        if kept is not None:
            return kept
        root = self._inverse_root(moments.covariance_of(c) if moments.has_scatter(c) else moments.covariance())
        solution.kept.keep(state, root)
        return root

    def _inverse_root(self, covariance: Tensor) -> Tensor:
        """Return W (d, d) with WWᵀ = the inverse of the shrunk and normalised covariance."""
        size, power = len(covariance), _power_of_root(covariance)
        covariance = (covariance * 0.25**power).to(self._torch_dtype)  # well conditioned once shrunk
        identity = torch.eye(size).to(covariance)
        trace = float(covariance.diagonal().sum())
        if not trace > 0:
            return identity
        diagonal = trace / size
        off_diagonal = (float(covariance.sum()) - trace) / max(size * (size - 1), 1)
        shrunk = covariance + self.off_diagonal_shrinkage * off_diagonal * (1 - identity)
        shrunk.diagonal().add_(self.shrinkage * diagonal)
        if self.correlation:
            deviations = shrunk.diagonal().sqrt()
            shrunk = shrunk / deviations[:, None] / deviations
        factor = cholesky_factor(shrunk)
        root = cast(Tensor, torch.linalg.solve_triangular(factor, identity, upper=False)).mT.contiguous()
        return root if self.correlation else root * 0.5**power

    def _rebuilt(self, n_features: int, n_classes: int) -> dict[str, int]:
        factors = n_classes if self.covariance == "class" else 1
        kept = min(factors, KEPT_BYTES // (n_features**2 * np.dtype(self.dtype).itemsize))
        return {"inverse roots of covariances, kept between predictions": kept * n_features**2}


def _power_of_root(covariance: Tensor) -> int:
    """Return k so that covariance / 4ᵏ is about one; 0 where float32 holds the covariance as it is."""
    mean = float(covariance.diagonal().mean())
    exponent = math.frexp(mean)[1] // 2 if mean > 0 else 0
    return exponent if abs(exponent) > LARGEST_POWER else 0


def _squared_lengths(gaps: Tensor, factor: Tensor) -> Tensor:
    """Return ‖gap W‖² (n,) for an upper triangular W, without most of the products with its zeros."""
    blocks = ((start, start + TRIANGLE_BLOCK) for start in range(0, len(factor), TRIANGLE_BLOCK))
    parts = [(gaps[:, :stop] @ factor[:stop, start:stop]).square().sum(1) for start, stop in blocks]
    return torch.stack(parts).sum(0)
