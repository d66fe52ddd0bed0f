"""A learner that only answers: what was solved, without what it was solved from."""

from typing import Any, TypeVar

from anacp.errors import NotLearnedError
from anacp.learners.base import Learner
from anacp.learners.knowledge import Knowledge
from anacp.learners.memory import Memory

L = TypeVar("L", bound=Learner[Any])


def only_answering(learner: L) -> L:
    """Return a learner with the same answers, to the bit, that can be sent: it holds no statistics, and learns nothing.

    Raises
    ------
    NotLearnedError
        If it is not solved, with probabilities and thresholds for the unknown: `learner.solve(…)` does that.
    """
    twin = learner._snapshot()
    known = twin._known()
    solved = known.solved_with(twin.get_params())
    if solved is None or solved.sharpness is None or solved.familiarity is None:
        raise NotLearnedError(
            f"Expected a {type(learner).__name__} that is solved, with probabilities and thresholds, got one that is "
            "not. Call solve(probabilities=True, unknown=True) first."
        )
    twin._knowledge = Knowledge(Memory({}, known.memory.classes, twin.device), known.parameters, solved)
    return twin
