"""Turning scores into probabilities that can be trusted."""

import torch
from torch import Tensor

__all__ = ["sharpness"]


def sharpness(scores: Tensor, classes: Tensor) -> float:
    """Return the β > 0 for which softmax(β·scores) is the most likely on examples held out.

    The log-likelihood is concave in β, so Newton's method with halved steps finds its one maximum.
    """
    scores = scores.double()
    scores = scores - scores.amax(1, keepdim=True)
    true = scores.gather(1, classes[:, None]).squeeze(1)

    def loss(beta: float) -> float:
        return float(torch.logsumexp(beta * scores, 1).mean() - beta * true.mean())

    spread = float(scores.std()) if scores.shape[1] > 1 else 0.0
    beta = 1.0 / spread if spread > 0 else 1.0
    limit = 1e4 * beta  # scores that separate every draw have no finite optimum
    for _ in range(100):
        weights = torch.softmax(beta * scores, 1)
        mean = (weights * scores).sum(1)
        slope = float((mean - true).mean())
        curvature = float(((weights * scores.square()).sum(1) - mean.square()).mean())
        if curvature <= 0 or abs(slope) <= 1e-9 * spread:
            break
        step = -slope / curvature
        while beta + step <= 0 or loss(beta + step) > loss(beta) + 1e-12:
            step /= 2
            if abs(step) < 1e-9 * beta:
                return beta
        beta = min(beta + step, limit)
        if beta == limit:
            break
    return beta
