"""Examples → predictions: a backbone and a learner as one thing."""

from anacp.methods.classifier import Classifier
from anacp.methods.loading import load
from anacp.methods.records import Forgotten, Learned

__all__ = ["Classifier", "Forgotten", "Learned", "load"]
