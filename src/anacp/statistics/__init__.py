"""What is remembered of data. Each statistic is a value that adds, subtracts, and saves; no regularisation inside."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.statistics.base import (
        BLOCK_ROWS,
        LARGEST_DOUBT,
        NOTHING_LEFT,
        Features,
        Statistic,
        divisor,
        nothing,
        row_blocks,
    )
    from anacp.statistics.coded_names import is_coded
    from anacp.statistics.coding import coded, decoded, outlines
    from anacp.statistics.coding_error import LARGEST_EFFECT, LARGEST_LEFT, CodingError
    from anacp.statistics.directions import Directions
    from anacp.statistics.folds import Fold, rows_in
    from anacp.statistics.gram import ClassGram
    from anacp.statistics.low_rank import LowRankGram
    from anacp.statistics.moments import ClassMoments, Spread
    from anacp.statistics.rounding import widest
    from anacp.statistics.rows import ClassRows

__all__ = [
    "BLOCK_ROWS",
    "LARGEST_DOUBT",
    "LARGEST_EFFECT",
    "LARGEST_LEFT",
    "NOTHING_LEFT",
    "ClassGram",
    "ClassMoments",
    "ClassRows",
    "CodingError",
    "Directions",
    "Features",
    "Fold",
    "LowRankGram",
    "Spread",
    "Statistic",
    "coded",
    "decoded",
    "divisor",
    "is_coded",
    "nothing",
    "outlines",
    "row_blocks",
    "rows_in",
    "widest",
]

__getattr__ = door(__name__)
