"""The methods that train a network with every task, beside which a closed-form learner must be seen."""

from anacp.methods.trained.base import TrainedMethod
from anacp.methods.trained.coda_prompt import CODAPrompt
from anacp.methods.trained.dualprompt import DualPrompt
from anacp.methods.trained.joint_fine_tuning import JointFineTuning
from anacp.methods.trained.joint_linear_probe import JointLinearProbe
from anacp.methods.trained.l2p import L2P
from anacp.methods.trained.sequential_fine_tuning import SequentialFineTuning
from anacp.methods.trained.slca import SLCA

__all__ = [
    "L2P",
    "SLCA",
    "CODAPrompt",
    "DualPrompt",
    "JointFineTuning",
    "JointLinearProbe",
    "SequentialFineTuning",
    "TrainedMethod",
]
