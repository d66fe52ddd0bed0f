"""8-bit features: one signed byte a number, one scale a column."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anacp.files import FileKind, write_tensors

if TYPE_CHECKING:
    from torch import Tensor

A = TypeVar("A", bound=Any)  # an array or a tensor

SAMPLE = FileKind("", 0, "an embedded sample", plain=True)


def quantize(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return codes (n, d) in -127 … 127 and scales (d,) with codes · scales ≈ x."""
    import torch

    scales = x.abs().amax(0).clamp_min(1e-12) / 127
    return (x / scales).round().to(torch.int8), scales


def dequantize(codes: A, scales: A) -> A:
    """Return the float32 features, of arrays or tensors."""
    features: A = codes * scales
    return features


def write_sample(
    path: Path,
    *,
    features: Mapping[str, Tensor],
    labels: Mapping[str, Tensor],
    classes: Sequence[str],
    card: Mapping[str, str],
) -> None:
    """Write features and class codes by split, with class names and origin as readable metadata."""
    tensors: dict[str, Tensor] = {}
    for split, x in features.items():
        tensors[f"x_{split}"], tensors[f"scales_{split}"] = quantize(x)
    for split, y in labels.items():
        tensors[f"y_{split}"] = y
    write_tensors(path, SAMPLE, {**card, "classes": json.dumps(list(classes))}, tensors)
