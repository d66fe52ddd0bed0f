"""The same classes in new surroundings, one domain after another."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anacp.errors import InputError
from anacp.scenarios.base import Scenario, Task, check_integer, register, rows_by_task
from anacp.scenarios.ordering import Order, arrange, described, distinct


@register
class DomainIncremental(Scenario):
    """One domain a task; classes may be in all of them.

    Parameters
    ----------
    domains : array-like
        Domain labels; duplicates are dropped.
    order : {"alphabetical", "paper", "seed1993"} or sequence of domains, default="alphabetical"
        As for `ClassIncremental`.
    seed : int, default=0
        Seed of the order "paper".
    """

    kind: ClassVar[str] = "domain-incremental"

    def __init__(self, domains: ArrayLike, *, order: Order = "alphabetical", seed: int = 0) -> None:
        self.domains = distinct(domains, "domain")
        self.order = order
        self.seed = check_integer(seed, "seed", least=0)
        self.arranged = arrange(self.domains, order, self.seed)
        self.n_tasks = len(self.domains)

    def tasks(self, labels: ArrayLike, domains: ArrayLike | None = None) -> Iterator[Task]:
        """Yield the tasks with the rows of their domain; a task's classes are those that occur there."""
        y = np.asarray(labels)
        if domains is None or np.shape(domains) != y.shape:
            found = "none" if domains is None else f"shape {np.shape(domains)}"
            raise InputError(
                f"Expected one domain for each of the {len(y)} labels, got {found}. Pass `tasks(labels, domains)`."
            )
        task_of = {domain: index for index, domain in enumerate(self.arranged.tolist())}
        for index, rows in enumerate(rows_by_task(task_of, domains, self.n_tasks, "domains")):
            yield Task(index, np.unique(y[rows]), rows)

    def describe(self) -> dict[str, object]:
        """Return all settings, ready for JSON."""
        domains = self.domains.tolist()
        return {"scenario": self.kind, "domains": domains, **described(self.order, self.seed)}
