"""Examples → predictions: an encoder and a learner as one thing, and the networks trained task by task beside it."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.catalogue import compared_methods
    from anacp.methods.answering import Model, answer, modality_of
    from anacp.methods.answers import Answers, Conflict, Forgotten, Learned
    from anacp.methods.asking import Question
    from anacp.methods.classifier import Classifier
    from anacp.methods.conflicts import OnConflict
    from anacp.methods.finding import find_method, methods_in, untaught
    from anacp.methods.header import ModelKind, check_model_header
    from anacp.methods.hub import HubClassifier
    from anacp.methods.learned_examples import Digests, LearnedExamples, short_digests
    from anacp.methods.loading import load
    from anacp.methods.method import Method
    from anacp.methods.moves import Moves
    from anacp.methods.on_features import OnFeatures
    from anacp.methods.predictor import Predictor
    from anacp.methods.trained import (
        L2P,
        SLCA,
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
    "Answers",
    "CODAPrompt",
    "Classifier",
    "Conflict",
    "Digests",
    "DualPrompt",
    "Forgotten",
    "HubClassifier",
    "JointFineTuning",
    "JointLinearProbe",
    "Learned",
    "LearnedExamples",
    "Method",
    "Model",
    "ModelKind",
    "Moves",
    "OnConflict",
    "OnFeatures",
    "Predictor",
    "Question",
    "SequentialFineTuning",
    "TrainedMethod",
    "answer",
    "check_model_header",
    "compared_methods",
    "find_method",
    "load",
    "methods_in",
    "modality_of",
    "short_digests",
    "untaught",
]

__getattr__ = door(__name__)
