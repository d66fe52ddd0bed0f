"""A classifier, or a learner of features, taught on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn.base import clone

from anacp.cluster.connecting import Cluster
from anacp.cluster.learning import Summed, summed
from anacp.cluster.reading import Reading
from anacp.errors import MismatchError
from anacp.learners import Learner
from anacp.methods import Classifier, Learned

M = TypeVar("M")


@dataclass(frozen=True, eq=False)
class OnCluster(Generic[M]):
    """What came of learning on a cluster. Save the model, then `summed.clear()`: until then a second start resumes."""

    model: M
    learned: Learned
    summed: Summed


def learn(
    cluster: Cluster, model: Classifier, sources: Sequence[str], *, source: object = None, **options: Any
) -> OnCluster[Classifier]:
    """Return what a classifier becomes that learns some sources on a cluster; it stays as it is.

    The result is the model that `Classifier.learn` of the same examples makes, whatever the nodes and the faults. A
    start that was stopped goes on where it was, if it is started again with the same arguments.

    Parameters
    ----------
    cluster : Cluster
        Of `connected`.
    model : Classifier
        What learns; its encoder's network is shipped to the nodes.
    sources : sequence of str
        Files, folders, or addresses that fsspec opens, which all nodes see alike.
    source : optional
        Where the examples are from, for the journal.
    **options
        As for `summed`: `reading`, `strict`, `on_conflict`, `rows`, `workers`, `report`.
    """
    if model.encoder.undecided:
        raise MismatchError(
            "Expected layers that are stated, got 'auto': a cluster has no first examples to choose them by. State "
            "them (--layers), or learn some examples without the cluster first."
        )
    learner: Learner[Any] = clone(model.learner)
    classes = model.classes_ if model.n_examples else None
    asked = {"reading": Reading()} | options
    found = summed(cluster, sources, learner, model.encoder, known=model.examples, classes=classes, **asked)
    if found.learner is None:
        return OnCluster(model, _learned(found, np.empty(0, np.str_)), found)
    grown = model.grown(found.learner, found.labels, found.digests, source=source)
    new = np.setdiff1d(found.learner.classes_, classes if classes is not None else [])
    return OnCluster(grown, _learned(found, new), found)


def learn_features(
    cluster: Cluster, model: Learner[Any], sources: Sequence[str], **options: Any
) -> OnCluster[Learner[Any]]:
    """Return what a learner becomes that learns sources of features ("sample:NAME", .npz) on a cluster.

    Rows count as often as they are given, as for `Learner.partial_fit`. Options are those of `learn`.
    """
    classes = model.classes_ if model._learned else None
    found = summed(cluster, sources, clone(model), classes=classes, **{"reading": Reading()} | options)
    assert found.learner is not None
    new = np.setdiff1d(found.learner.classes_, classes if classes is not None else [])
    return OnCluster(model + found.learner, _learned(found, new), found)


def _learned(found: Summed, new: Any) -> Learned:
    return Learned(
        n_new=len(found.labels),
        n_known=found.n_known,
        new_classes=new.tolist(),
        skipped=found.skipped,
        conflicts=found.conflicts,
        cut=found.cut,
        foreign=found.foreign,
        feature_seconds=found.seconds,
    )
