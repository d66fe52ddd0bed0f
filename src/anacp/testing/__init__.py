"""The laws that every learner keeps, as a function that anybody can call on a learner of their own.

>>> import anacp
>>> from anacp.testing import check_learner
>>> check_learner(anacp.NCM)
"""

from anacp.testing.check import LAWS, Law, check_learner
from anacp.testing.data import assert_same, blobs

__all__ = ["LAWS", "Law", "assert_same", "blobs", "check_learner"]
