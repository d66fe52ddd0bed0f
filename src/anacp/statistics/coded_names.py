"""How files name what they keep in fewer bits."""

from collections.abc import Mapping
from typing import Any

GRAM, SUMS = "gram_codes", "sums_codes"
DIRECTIONS, FACTOR = "directions_codes", "scatter_factor"


def is_coded(names: Mapping[str, Any]) -> bool:
    """Say whether tensors of these names are a statistic in fewer bits."""
    return bool({GRAM, DIRECTIONS, FACTOR} & names.keys())
