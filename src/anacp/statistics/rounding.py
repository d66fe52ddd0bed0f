"""How much rounding error a sum may carry, and what a precision can hold."""

import torch
from torch import Tensor

from anacp.errors import InputError, NumericalError

# Squares below this many times the smallest number of a precision have lost digits, or will when they are multiplied.
MARGIN = 1e14
# What is unlearned leaves rounding error; beside a ridge that error may be this large, or this many times what learning
# the same rows one by one would leave.
SHARE_OF_RIDGE, UNAVOIDABLE = 1e-2, 4


def widest(device: str) -> torch.dtype:
    """Return the widest precision there is: Apple's accelerator has no float64."""
    return torch.float32 if torch.device(device).type == "mps" else torch.float64


def unit_roundoff(dtype: torch.dtype) -> float:
    """Return by how much, relatively, one operation may be off."""
    return float(torch.finfo(dtype).eps) / 2


def added_error(error: Tensor, dtype: torch.dtype, before: Tensor, after: Tensor) -> Tensor:
    """Return the error once a block took the energy from `before` to `after`: by root of the sum of squares."""
    return torch.hypot(error, unit_roundoff(dtype) * (torch.maximum(before, after) + (after - before).abs()))


def merged_error(one: Tensor, other: Tensor, dtype: torch.dtype, energy: Tensor) -> Tensor:
    """Return the error of a sum of two statistics that has this energy."""
    return torch.hypot(torch.hypot(one, other), unit_roundoff(dtype) * energy)


def feature_rounding(features: object, x: Tensor, wide: torch.dtype) -> float:
    """Return the relative rounding of the rows that a statistic sees: products differ with the size of their batch."""
    if features is None:
        return unit_roundoff(wide)
    amplification = getattr(features, "amplification", None)  # of rounding, where features are not linear in the rows
    return unit_roundoff(x.dtype) * (amplification(x) if amplification else 1.0)


def share(error: Tensor, energy: Tensor) -> float:
    """Return the largest error / energy; no error is no share, whatever the energy."""
    shares = torch.where(error > 0, error / energy.clamp_min(0), 0.0)
    return float(shares.max()) if shares.numel() else 0.0


def refuse_small_ridge(error: Tensor, energy: Tensor, n: float, size: int, dtype: torch.dtype, ridge: float) -> None:
    """Refuse a matrix (size, size) of n rows whose error, left by unlearning, a ridge no longer covers.

    Errors of single numbers are independent: a matrix of them stretches no vector by more than about 2/√size of their
    sum on the diagonal.
    """
    covered = 2 * float(error) / size**0.5 <= SHARE_OF_RIDGE * ridge
    if not covered and float(error) > UNAVOIDABLE * n**0.5 * unit_roundoff(dtype) * float(energy):
        raise NumericalError(
            f"Expected a ridge or shrinkage well above the rounding error that unlearning has left, got {ridge:.2g} "
            f"and an error of {float(error):.2g}. Raise it, or learn what stays anew with `fit`; nothing has changed."
        )


def refuse_overflow(energy: Tensor, dtype: torch.dtype) -> None:
    """Refuse an energy that is not finite."""
    if not bool(torch.isfinite(energy).all()):
        raise InputError(_out_of_range(dtype, "larger"))


def refuse_underflow(lost: Tensor | bool, dtype: torch.dtype) -> None:
    """Refuse what is so small that its squares are lost."""
    if bool(lost):
        raise InputError(_out_of_range(dtype, "smaller"))


def smallest_energy(dtype: torch.dtype) -> float:
    """Return the least energy that keeps its digits."""
    return MARGIN * torch.finfo(dtype).tiny


def _out_of_range(dtype: torch.dtype, how: str) -> str:
    name = str(dtype).removeprefix("torch.")
    wider = "use dtype='float64', " if dtype == torch.float32 else ""
    return (
        f"Expected features whose squares {name} can hold, got {how} ones. Scale the features (such as to length one), "
        f"{wider}or normalize=True where the method has it; nothing has changed."
    )
