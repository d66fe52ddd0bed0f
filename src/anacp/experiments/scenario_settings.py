"""Which classes come when, as an experiment states it: without data, so that it fits any data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from anacp.errors import DataFileError, MissingDataError, ParameterError
from anacp.experiments.toml import Kind, check_choice, check_table
from anacp.files import read_arrays
from anacp.scenarios import Blurry, ClassIncremental, DomainIncremental, Online, Scenario

Domains = tuple[NDArray[Any], NDArray[Any]]  # of the training and of the test rows

KEYS: dict[str, Kind] = {
    "kind": (str,),
    "tasks": (int,),
    "sizes": (list,),
    "order": (str, list),
    "share": (float,),
    "batch_size": (int,),
    "base": (str,),
    "domains": (str,),
}
# What else than `kind` a scenario of each kind takes; an online one also what its base takes.
TAKEN = {
    "class-incremental": {"tasks", "sizes", "order"},
    "domain-incremental": {"order", "domains"},
    "blurry": {"tasks", "sizes", "order", "share"},
    "online": {"batch_size", "base"},
}


@dataclass(frozen=True)
class ScenarioSettings:
    """The table [scenario] of an experiment; what is None has the default of its scenario."""

    kind: str = "class-incremental"
    tasks: int | None = None  # how many
    sizes: tuple[int, ...] | None = None  # instead of `tasks`: classes in each
    order: str | tuple[Any, ...] | None = None  # a name, or all classes as they come
    share: float | None = None  # blurry: of each class's rows that appear in other tasks
    batch_size: int | None = None  # online: rows at a time
    base: str | None = None  # online: the kind of scenario that is cut into batches
    domains: str | None = None  # domain-incremental: an npz file with a domain for each row, `train` and `test`

    def __post_init__(self) -> None:
        check_choice(self.kind, TAKEN, "[scenario] kind")
        check_choice(self._base, list(TAKEN)[:3], "[scenario] base")
        allowed = {"kind"} | TAKEN[self.kind] | TAKEN[self._base]
        for name in KEYS:
            if getattr(self, name) is not None and name not in allowed:
                raise ParameterError(f"[scenario] {name}: a {self.kind} scenario takes none. Leave it out.")
        if self._base == "domain-incremental" and self.domains is None:
            raise ParameterError(
                "[scenario] domains: expected an npz file with the arrays `train` and `test`, one domain a row, got "
                "none. A domain-incremental scenario needs it."
            )

    @property
    def _base(self) -> str:
        """The kind of scenario that is run, or cut into batches."""
        return (self.base or "class-incremental") if self.kind == "online" else self.kind

    @classmethod
    def from_dict(cls, table: object) -> ScenarioSettings:
        """Return the settings that a table states."""
        stated = check_table(table, KEYS, "[scenario]")
        stated |= {key: tuple(value) for key, value in stated.items() if isinstance(value, list)}
        return cls(**stated)

    def as_dict(self) -> dict[str, Any]:
        """Return what is set, ready for TOML and JSON."""
        stated = {name: getattr(self, name) for name in KEYS if getattr(self, name) is not None}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in stated.items()}

    def read_domains(self) -> Domains | None:
        """Return the domains of the training and the test rows, where they are needed."""
        if self.domains is None:
            return None
        try:
            arrays = read_arrays(self.domains, ("train", "test"))
            return arrays["train"], arrays["test"]
        except FileNotFoundError as problem:
            raise MissingDataError(f"Expected an npz file of domains at {self.domains}, got none.") from problem
        except KeyError as problem:
            raise DataFileError(
                f"Expected the arrays `train` and `test`, one domain a row, in {self.domains}, got none ({problem})."
            ) from problem

    def scenario(self, labels: NDArray[Any], domains: Domains | None, seed: int) -> Scenario:
        """Return the scenario for these training labels; the seed is of the order and of what it draws."""
        given: Mapping[str, Any] = {"seed": seed} | ({} if self.order is None else {"order": self.order})
        base: Scenario
        if self._base == "domain-incremental":
            assert domains is not None
            base = DomainIncremental(domains[0], **given)
        else:
            base = ClassIncremental(labels, n_tasks=self.tasks, sizes=self.sizes, **given)
            if self._base == "blurry":
                base = Blurry(base, seed=seed, **({} if self.share is None else {"share": self.share}))
        if self.kind == "online":
            base = Online(base, seed=seed, **({} if self.batch_size is None else {"batch_size": self.batch_size}))
        return base
