"""Features → predictions, in closed form. One file a method, all of one form."""

from anacp.learners.anacp import AnaCP
from anacp.learners.base import Learner
from anacp.learners.loading import load
from anacp.learners.ncm import NCM
from anacp.learners.registry import LEARNERS, learner

__all__ = ["LEARNERS", "NCM", "AnaCP", "Learner", "learner", "load"]
