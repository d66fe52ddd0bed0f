"""NCM: the nearest class mean in cosine distance (SimpleCIL; Janson et al. 2022, Zhou et al. 2024)."""

import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.learners.base import Learner
from anacp.learners.registry import register
from anacp.learners.solved import Solution
from anacp.statistics import ClassMoments, Statistic

__all__ = ["NCM"]


@register
class NCM(Learner):
    """Nearest class mean in cosine distance: the baseline every table needs.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the draws that calibrate `predict_proba`; nothing else is random.
    device : str, default="cpu"
        Any torch device.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the scores.
    """

    def __init__(self, *, random_state: int = 0, device: str = "cpu", dtype: str = "float32") -> None:
        self.random_state = random_state
        self.device = device
        self.dtype = dtype

    def _statistics(self, n_features: int, device: str) -> dict[str, Statistic]:
        return {"moments": ClassMoments(n_features, spread="diagonal", device=device)}

    def _solve(self) -> Solution:
        return {"means": F.normalize(self._memory.moments.means, dim=1).to(self._torch_dtype)}

    def _scores(self, x: Tensor, solution: Solution) -> Tensor:
        return F.normalize(x, dim=1) @ solution["means"].mT
