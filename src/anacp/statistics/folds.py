"""Holding examples out: which fold a row belongs to is decided by its content, never by when it came."""

import hashlib
from typing import Literal

import torch
from torch import Tensor

from anacp.statistics.base import Block

Fold = Literal["all", "fitted", "held out"]

# One row in five is held out, RanPAC's share.
SHARE = 5


def rows_in(fold: Fold, x: Tensor, classes: Tensor, weights: Tensor | None = None) -> Block:
    """Return the rows (n, d), class indices (n,) and weights (n,) that belong to the fold.

    A hash of the row decides, so that any split and any order of the data hold out the same rows, and a row that is
    unlearned leaves the fold it was in.
    """
    if fold == "all":
        return x, classes, weights
    held = torch.tensor([_digest(row) % SHARE == 0 for row in x.cpu().numpy()], dtype=torch.bool, device=x.device)
    chosen = held if fold == "held out" else ~held
    return x[chosen], classes[chosen], None if weights is None else weights[chosen]


def expected_rows(fold: Fold, n_rows: int) -> int:
    """Return about how many of n_rows rows belong to the fold."""
    return {"all": n_rows, "held out": n_rows // SHARE, "fitted": n_rows - n_rows // SHARE}[fold]


def _digest(row: object) -> int:
    return int.from_bytes(hashlib.blake2b(row.tobytes(), digest_size=8).digest(), "big")  # type: ignore[attr-defined]
