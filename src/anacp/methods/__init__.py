"""Examples → predictions: a backbone and a learner as one thing, and the networks trained task by task beside it."""

from anacp.methods.classifier import Classifier
from anacp.methods.loading import load
from anacp.methods.records import Forgotten, Learned
from anacp.methods.trained import (
    L2P,
    SLCA,
    TRAINED,
    CODAPrompt,
    DualPrompt,
    JointFineTuning,
    JointLinearProbe,
    SequentialFineTuning,
    TrainedMethod,
)

__all__ = [
    "L2P",
    "SLCA",
    "TRAINED",
    "CODAPrompt",
    "Classifier",
    "DualPrompt",
    "Forgotten",
    "JointFineTuning",
    "JointLinearProbe",
    "Learned",
    "SequentialFineTuning",
    "TrainedMethod",
    "load",
]
