"""What is remembered of data. Each statistic is a value that adds, subtracts, and saves; no regularisation inside."""

from anacp.statistics.base import Statistic
from anacp.statistics.gram import ClassGram, Features
from anacp.statistics.moments import ClassMoments, Spread

__all__ = ["ClassGram", "ClassMoments", "Features", "Spread", "Statistic"]
