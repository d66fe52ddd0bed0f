"""A classifier around a learner that has learned already, from features computed elsewhere."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from anacp.adaptation import Adaptation
from anacp.backbones import Backbone
from anacp.learners import Learner
from anacp.methods.classifier import Classifier
from anacp.methods.given import given
from anacp.methods.known import Known

__all__ = ["assembled"]


def assembled(
    backbone: Backbone,
    learner: Learner,
    items: Sequence[Any],
    labels: ArrayLike,
    *,
    adaptation: Adaptation | None = None,
    concatenate: bool = False,
) -> Classifier:
    """Return the classifier that predicts from items, and goes on learning, where a learner of their features stands.

    `items` and `labels` must be those that the learner learned, by features of this backbone, so adapted.
    """
    classifier = Classifier(backbone, clone(learner), adaptation=adaptation, concatenate=concatenate)
    classifier.learner = learner
    classifier._known = Known().plus(given(items, labels, backbone.modality))
    return classifier
