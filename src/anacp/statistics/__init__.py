"""What is remembered of data. Each statistic is a value that adds, subtracts, and saves; no regularisation inside."""

from anacp.statistics.base import BLOCK_ROWS, LARGEST_DOUBT, Features, Statistic, nothing, row_blocks
from anacp.statistics.folds import Fold, rows_in
from anacp.statistics.gram import ClassGram
from anacp.statistics.low_rank import LowRankGram
from anacp.statistics.moments import ClassMoments, Spread
from anacp.statistics.rows import ClassRows

__all__ = [
    "BLOCK_ROWS",
    "LARGEST_DOUBT",
    "ClassGram",
    "ClassMoments",
    "ClassRows",
    "Features",
    "Fold",
    "LowRankGram",
    "Spread",
    "Statistic",
    "nothing",
    "row_blocks",
    "rows_in",
]
