"""Features of what a framework's data set yields, a bounded number of items at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Extract = Callable[[Tensor], Tensor]
BATCH = 64


def extracted(
    dataset: Any, extract: Extract | None, *, inputs: int, labels: int, device: str = "cpu"
) -> Iterator[tuple[NDArray[np.float32], NDArray[Any]]]:
    """Yield features and labels of batches; `inputs` and `labels` say which of the values of an item they are."""
    if isinstance(extract, nn.Module):
        extract.eval()
    for start in range(0, len(dataset), BATCH):
        items = [dataset[row] for row in range(start, min(start + BATCH, len(dataset)))]
        x = torch.stack([torch.as_tensor(item[inputs]) for item in items]).to(device)
        with torch.inference_mode():
            made = x if extract is None else extract(x)
        yield made.flatten(1).float().cpu().numpy(), np.array([int(item[labels]) for item in items])
