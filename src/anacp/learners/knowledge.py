"""All that a learner knows, in one place."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, Self, TypeVar, cast

from anacp.learners.familiarity import Familiarity
from anacp.learners.memory import Memory
from anacp.learners.reference import Reference
from anacp.learners.solution import Solution, Solved
from anacp.threads import OwnLock

S = TypeVar("S", bound=Solution)
T = TypeVar("T")


class Knowledge(Generic[S]):
    """A memory, the parameters that learning began with, and what was solved from it last.

    Learning puts another one in its place; solving fills this one in, which changes no answer. It is solved once: of
    many threads that ask, the first solves and the others wait for it.
    """

    def __init__(self, memory: Memory, parameters: Mapping[str, Any], solved: Solved[S] | None = None) -> None:
        self.memory, self.parameters, self.solved = memory, parameters, solved
        self._before: S | None = None  # the solution before this was learned, of which parts may be used again
        self._solving = OwnLock()

    def after(self, memory: Memory) -> Self:
        """Return what is known with another memory."""
        changed, solved = type(self)(memory, self.parameters), self.solved
        changed._before = solved.solution if solved else self._before
        return changed

    def solved_with(self, parameters: Mapping[str, Any]) -> Solved[S] | None:
        """Return the solution of all that was learned for these parameters, if there is one."""
        solved = self.solved
        return solved if solved is not None and solved.parameters == parameters else None

    def solve(self, parameters: Mapping[str, Any], solve: Callable[[Memory, S | None], S]) -> Solved[S]:
        """Return the solution for these parameters, by `solve` of the memory and the solution before if it must be."""
        found = self.solved_with(parameters)
        if found is not None:
            return found
        with self._solving:
            found = self.solved_with(parameters)
            if found is None:
                self.memory = self.memory.absorbed()
                before = self.solved.solution if self.solved else self._before
                self.solved = found = Solved(solve(self.memory, before), parameters)
                self._before = None
            return found

    def refer(self, solved: Solved[S], make: Callable[[], Reference]) -> Reference:
        """Return what a solution is judged by, by `make` if that is not there yet."""
        return self._set_once(solved, "reference", make)

    def sharpen(self, solved: Solved[S], calibrate: Callable[[], float]) -> float:
        """Return how sharp the probabilities of a solution are, by `calibrate` if that is not known yet."""
        return self._set_once(solved, "sharpness", calibrate)

    def measure(self, solved: Solved[S], make: Callable[[], Familiarity]) -> Familiarity:
        """Return what measures how familiar a row is to a solution, by `make` if that is not known yet."""
        return self._set_once(solved, "familiarity", make)

    def _set_once(self, solved: Solved[S], part: str, make: Callable[[], T]) -> T:
        if getattr(solved, part) is None:
            with self._solving:
                found = self.solved_with(solved.parameters) or solved
                if getattr(found, part) is None:
                    made: dict[str, Any] = {part: make()}
                    found = replace(found, **made)
                    judged = found.sharpness is not None and found.familiarity is not None
                    self.solved = replace(found, reference=None) if judged else found
                solved = found
        return cast(T, getattr(solved, part))
