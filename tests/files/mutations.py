"""Contents of files changed at random, to be written with digests that are right: what a schema must refuse."""

import random
from typing import Any

import torch
from torch import Tensor

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 5, 10**9, 2**31, 10**30, 10**400),
    *(1e300, float("nan"), float("inf"), -0.0, "", "x", "a\nb", "a" * 1000, "<U1", "|O", "<i8", "<U999999999"),
    *([], [1], ["a", "b"], [0, 0, 1, 1], [[[]]], {}, {"a": 1}, "NCM", "AnaCP", "L2P", "classifier", "trained"),
]
DTYPES = [torch.float64, torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool]


def mutated(header: dict[str, Any], tensors: dict[str, Tensor], draw: random.Random) -> tuple[Any, dict[str, Tensor]]:
    """Return header and tensors, one thing of which is another."""
    if draw.random() < 0.6 or not tensors:
        changed = _mutated_value(header, draw)
        return changed if isinstance(changed, dict) else {}, tensors
    name, tensors = draw.choice(sorted(tensors)), dict(tensors)
    kind = draw.random()
    if kind < 0.2:
        taken = tensors.pop(name)
        return header, tensors if kind < 0.1 else tensors | {f"{name}x": taken}
    return header, tensors | {name: _mutated_tensor(tensors[name], draw)}


def _mutated_value(value: Any, draw: random.Random) -> Any:
    kind = draw.random()
    if isinstance(value, dict) and value and kind < 0.8:
        key, changed = draw.choice(sorted(value)), dict(value)
        if kind < 0.2:
            taken = changed.pop(key)
            return changed if kind < 0.1 else changed | {f"{key}x": taken}
        return changed | {key: _mutated_value(value[key], draw)}
    if isinstance(value, list) and value and kind < 0.8:
        place = draw.randrange(len(value))
        if kind < 0.4:
            return value[:place] + value[place + (1 if kind < 0.2 else -1) :]
        return [*value[:place], _mutated_value(value[place], draw), *value[place + 1 :]]
    if isinstance(value, int) and kind < 0.5:
        return value + draw.choice([-1, 1, 100, 10**6])
    return draw.choice(VALUES)


def _mutated_tensor(tensor: Tensor, draw: random.Random) -> Tensor:
    kind = draw.random()
    if kind < 0.2:
        return tensor.to(draw.choice(DTYPES))
    if kind < 0.4:
        return tensor.reshape(-1) if kind < 0.3 else tensor[None]
    if kind < 0.6 and tensor.ndim:
        return tensor[:-1] if kind < 0.5 else torch.cat([tensor, tensor[:1]])
    changed = tensor.clone()
    flat = changed.reshape(-1)
    if len(flat):
        strange = [float("nan"), float("inf"), 0.0, 1e30] if tensor.is_floating_point() else [0, -1, 1, 10**6]
        flat[draw.randrange(len(flat))] = torch.tensor(draw.choice(strange)).to(tensor.dtype)
    return changed
