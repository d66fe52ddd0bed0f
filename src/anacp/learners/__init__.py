"""Features → predictions, in closed form. One file a method, all of one form."""

from anacp.learners.anacp import AnaCP
from anacp.learners.base import Learner
from anacp.learners.elm import ELM
from anacp.learners.fecam import FeCAM
from anacp.learners.gacl import GACL
from anacp.learners.klda import KLDA
from anacp.learners.linear_probe import LinearProbe
from anacp.learners.loading import load
from anacp.learners.loranpac import LoRanPAC
from anacp.learners.ncm import NCM
from anacp.learners.presets import COMPARED, PRESETS, method, method_name, methods_in
from anacp.learners.ranpac import RanPAC
from anacp.learners.registry import LEARNERS, learner, register
from anacp.learners.ridge import Ridge
from anacp.learners.slda import SLDA

__all__ = [
    "COMPARED",
    "ELM",
    "GACL",
    "KLDA",
    "LEARNERS",
    "NCM",
    "PRESETS",
    "SLDA",
    "AnaCP",
    "FeCAM",
    "Learner",
    "LinearProbe",
    "LoRanPAC",
    "RanPAC",
    "Ridge",
    "learner",
    "load",
    "method",
    "method_name",
    "methods_in",
    "register",
]
