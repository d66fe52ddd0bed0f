"""Features → predictions, in closed form. One file a method, all of one form."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.labels import Labels, label_kind
    from anacp.learners.anacp import AnaCP
    from anacp.learners.answering import only_answering
    from anacp.learners.averaged_anacp import AveragedAnaCP
    from anacp.learners.base import Learner
    from anacp.learners.constraints import NOT_NEGATIVE, POSITIVE, Constraint, choice, count, number, whole
    from anacp.learners.elm import ELM
    from anacp.learners.familiarity import BY, KEEP, By, check_share, check_unknown, or_unknown
    from anacp.learners.fecam import FeCAM
    from anacp.learners.gacl import GACL
    from anacp.learners.header import KINDS, LABELS, LEARNER, MODEL, SOLUTION
    from anacp.learners.inputs import check_kind
    from anacp.learners.klda import KLDA
    from anacp.learners.left_out import leave_one_out
    from anacp.learners.linear_probe import LinearProbe
    from anacp.learners.loranpac import LoRanPAC
    from anacp.learners.memory import WAITING_ROWS, Memory, StoredPart
    from anacp.learners.model_file import contents, restored
    from anacp.learners.ncm import NCM
    from anacp.learners.outlook import ClassOutlook, class_outlooks
    from anacp.learners.ranpac import RanPAC
    from anacp.learners.ridge import Ridge
    from anacp.learners.ridge_choice import chooses_ridge
    from anacp.learners.scoring import Scoring
    from anacp.learners.slda import SLDA
    from anacp.learners.solution import Solution
    from anacp.learners.solved import SolvedLearner
    from anacp.learners.stored_labels import restored_labels

__all__ = [
    "BY",
    "ELM",
    "GACL",
    "KEEP",
    "KINDS",
    "KLDA",
    "LABELS",
    "LEARNER",
    "MODEL",
    "NCM",
    "NOT_NEGATIVE",
    "POSITIVE",
    "SLDA",
    "SOLUTION",
    "WAITING_ROWS",
    "AnaCP",
    "AveragedAnaCP",
    "By",
    "ClassOutlook",
    "Constraint",
    "FeCAM",
    "Labels",
    "Learner",
    "LinearProbe",
    "LoRanPAC",
    "Memory",
    "RanPAC",
    "Ridge",
    "Scoring",
    "Solution",
    "SolvedLearner",
    "StoredPart",
    "check_kind",
    "check_share",
    "check_unknown",
    "choice",
    "chooses_ridge",
    "class_outlooks",
    "contents",
    "count",
    "label_kind",
    "leave_one_out",
    "number",
    "only_answering",
    "or_unknown",
    "restored",
    "restored_labels",
    "whole",
]

__getattr__ = door(__name__)
