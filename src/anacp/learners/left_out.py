"""What each example would be taken for by a model that never saw it, in closed form."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from anacp.errors import InputError, RidgeEdgeWarning
from anacp.labels import Labels
from anacp.learners.ridge import Ridge
from anacp.linalg import factor_psd, unit_rows


def leave_one_out(x: ArrayLike, y: ArrayLike) -> tuple[Labels, NDArray[np.float64], float]:
    """Return the classes (c,), the scores (n, c) of every row by ridge regression without that row, and the λ.

    With h_i = z_iᵀ(G + λI)⁻¹z_i and the scores s_i of the regression on all rows, the one without row i gives it
    (s_i - h_i y_i) / (1 - h_i): exactly, for the λ that generalised cross-validation chooses from all rows.
    """
    rows = unit_rows(torch.tensor(np.asarray(x), dtype=torch.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RidgeEdgeWarning)
        model = Ridge(dtype="float64").fit(rows, y).solve()  # all rows have entered the statistics then
    if len(model.classes_) < 2:
        raise InputError("Expected examples of two classes or more, got one. A label can only be wrong among others.")
    gram: Any = model._known().memory.statistics["gram"]
    z = gram.features(rows)  # (n, m)
    factor = factor_psd(gram.gram, shift=model.ridge_)
    influence = (z * factor.solve(z.mT.contiguous()).mT).sum(1, keepdim=True)  # h (n, 1)
    own = torch.from_numpy(np.searchsorted(model.classes_, np.asarray(y)))
    targets = torch.zeros(len(rows), len(model.classes_), dtype=torch.float64)
    targets[torch.arange(len(rows)), own] = 1
    scores = torch.from_numpy(model.scores(rows)).double()
    return model.classes_, ((scores - influence * targets) / (1 - influence)).numpy(), model.ridge_
