"""All that a learner knows, in one place."""

from collections.abc import Mapping
from typing import Any, Generic, Self, TypeVar

from anacp.learners.memory import Memory
from anacp.learners.solution import Solution, Solved

S = TypeVar("S", bound=Solution)


class Knowledge(Generic[S]):
    """A memory, the parameters that learning began with, and what was solved from it last.

    Learning puts another one in its place; solving fills this one in, which changes no answer.
    """

    def __init__(self, memory: Memory, parameters: Mapping[str, Any], solved: Solved[S] | None = None) -> None:
        self.memory, self.parameters, self.solved = memory, parameters, solved
        self.before: S | None = None  # the solution before this was learned, of which parts may be used again

    def after(self, memory: Memory) -> Self:
        """Return what is known with another memory."""
        changed = type(self)(memory, self.parameters)
        changed.before = self.solved.solution if self.solved else self.before
        return changed

    def is_solved(self, parameters: Mapping[str, Any]) -> bool:
        """Say whether there is a solution for all that was learned and for these parameters."""
        return self.solved is not None and bool(self.solved.parameters == parameters)
