"""Which layers a network has, by number and by name, and which sets of them are worth a choice."""

import re
from collections.abc import Mapping, Sequence

from anacp.backbones.presets import Pooling
from anacp.backbones.views import LAST_LAYER, PATCHES, Layer, Layers
from anacp.errors import ParameterError

MOST = 4  # layers that are computed for a choice: what is before them is far from what the network was trained for
# How many of the last ones are taken where too few examples are there to choose by.
USUAL: dict[Pooling, int] = {
    "mean over tokens": 4,
    "mean over pixels": 2,
    "mean over pixels and mirror image": 2,
    "class token": 1,
}


def canonical(layers: Sequence[Layer], widths: Mapping[Layer, int], name: str) -> Layers:
    """Return layers as they are known, counted from the last, or say which there are."""
    n = sum(isinstance(layer, int) for layer in widths)
    numbers = [layers] if isinstance(layers, str) else list(layers)
    found = [_number(layer, n) for layer in numbers]
    if not found or not all(layer in widths for layer in found):
        patches = f" or {PATCHES!r}" if PATCHES in widths else ""
        raise ParameterError(
            f"Expected layers from {-n} to {n - 1}{patches}, got {numbers}. {name} has {n} of them, by name 'block 0' "
            f"to 'block {n - 1}', and 'last'."
        )
    return tuple(found)


def nested(widths: Mapping[Layer, int]) -> tuple[Layers, ...]:
    """Return the last layer, then the same with more and more of those before it."""
    n = min(MOST, sum(isinstance(layer, int) for layer in widths))
    more: list[Layers] = [tuple(range(-k, 0)) for k in range(1, n + 1)]
    if PATCHES not in widths:
        return tuple(more)
    with_patches: list[Layers] = [(*layers, PATCHES) for layers in more]
    return (LAST_LAYER, *with_patches)


def usual_layers(choices: Sequence[Layers], pooling: Pooling) -> Layers:
    """Return the layers that are taken where there is nothing to choose by."""
    return choices[min(USUAL[pooling], len(choices)) - 1]


def _number(layer: Layer, n: int) -> Layer:
    if isinstance(layer, str):
        named = re.fullmatch(r"block (\d{1,4})", layer)
        if layer == PATCHES or (named is None and layer != "last"):
            return layer
        layer = int(named[1]) if named else -1
    return layer if layer < 0 else layer - n
