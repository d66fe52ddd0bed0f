"""NCM: the nearest class mean in cosine distance (SimpleCIL; Janson et al. 2022, Zhou et al. 2024)."""

from dataclasses import dataclass

from torch import Tensor

from anacp.catalogue import method
from anacp.learners.base import Learner
from anacp.learners.formulas import cosine_scores
from anacp.learners.memory import Memory
from anacp.learners.solution import Solution
from anacp.linalg import fresh_weights, unit_rows
from anacp.statistics import ClassMoments, Statistic, row_blocks


@dataclass(frozen=True, eq=False)
class UnitMeans(Solution):
    """Class means of length one."""

    means: Tensor  # (c, d)


@method(page="ncm", compared=1)
class NCM(Learner[UnitMeans]):
    """Nearest class mean in cosine distance: the baseline every table needs.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the draws that calibrate `predict_proba`; nothing else is random.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the scores.

    Examples
    --------
    >>> import anacp
    >>> sample = anacp.load_sample("clinc150")
    >>> model = anacp.NCM().partial_fit(sample.x_train, sample.y_train)
    >>> str(model.predict(sample.x_test[:1])[0])
    'translate'
    """

    def __init__(self, *, random_state: int = 0, device: str = "cpu", dtype: str = "float32") -> None:
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device)}

    def _solve(self, memory: Memory, before: UnitMeans | None) -> UnitMeans:
        means = memory.moments.means
        unit = fresh_weights(means.new_empty(0, dtype=self._torch_dtype), *means.shape)
        for classes in row_blocks(len(means)):
            unit[classes] = unit_rows(means[classes])
        return UnitMeans(unit)

    def _outline(self, n_features: int, n_classes: int) -> dict[str, Tensor]:
        return {"means": self._sized(n_classes, n_features)}

    def _scores(self, x: Tensor, solution: UnitMeans) -> Tensor:
        return cosine_scores(x, solution.means, unit_rows)
