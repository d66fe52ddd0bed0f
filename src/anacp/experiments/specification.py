"""The specification of a run: everything that decides its result, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from anacp.catalogue import METHODS, MethodEntry
from anacp.errors import ParameterError, UnknownNameError
from anacp.experiments.scenario_settings import ScenarioSettings
from anacp.experiments.toml import Kind, check_table, to_toml
from anacp.methods import find_method
from anacp.paper import N_TASKS, Cell

METHOD_KEYS: dict[str, Kind] = {"name": (str,), "title": (str,), "file": (str,), "parameters": (dict,)}
# Beside dataset, method, seed and scenario; a method's or a data set's own table may state these for itself.
RUN_KEYS: dict[str, Kind] = {
    "backbone": (str,),
    "adaptation": (str,),
    "concatenate": (bool,),
    "joint": (bool,),
    "device": (str,),
    "keep_model": (bool,),
    "embedding": (bool,),
    "paper": (dict,),
    "quick": (bool,),
    "substitute": (dict,),
}
CELL_KEYS: dict[str, Kind] = {"table": (str,), "row": (str,), "column": (str,)}


@dataclass(frozen=True)
class Specification:
    """One method × one seed × one data set through one scenario.

    Parameters
    ----------
    dataset : str
        What `anacp.datasets.open_dataset` takes.
    method : str
        A learner, a named setting such as "KLDA-E", or a trained method.
    parameters : mapping
        Its parameters, where they are not the defaults. The seed is not among them.
    title : str, optional
        What tables call it; the method's name if left out.
    file : str, optional
        A Python file that registers the method, for methods of your own.
    backbone : str, optional
        What makes features of images or texts; none for a data set of features.
    adaptation : str, optional
        The recipe by which the backbone is adapted to the first task.
    concatenate : bool
        Features of the frozen and the adapted backbone side by side (APER).
    joint : bool
        All tasks learned at once: the upper bound. A method that can do nothing else sets it.
    scenario : ScenarioSettings
        Which classes come when.
    seed : int
        Of the method, and of the adaptation.
    order_seed : int, optional
        Of the class order and of what else the scenario draws; as `seed` if left out.
    device : str
        Any torch device.
    keep_model : bool
        Whether the final model is written.
    embedding : bool
        Whether pictures of AnaCP's features are computed (embedding.json).
    paper : Cell, optional
        The table, row and column of the paper that this stands for: reports read nothing else to know. A column says
        that data, backbone and number of tasks are the paper's, or that a substitute for these is declared.
    quick : bool
        Whether the parameters are to show the shape of a table, not its numbers.
    substitute : mapping, optional
        In words, to be shown: which published result this stands for ("for") although it differs, and how ("note").
    """

    dataset: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    file: str | None = None
    backbone: str | None = None
    adaptation: str | None = None
    concatenate: bool = False
    joint: bool = False
    scenario: ScenarioSettings = field(default_factory=ScenarioSettings)
    seed: int = 0
    order_seed: int = -1
    device: str = "cpu"
    keep_model: bool = True
    embedding: bool = False
    paper: Cell | None = None
    quick: bool = False
    substitute: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        entry = find_method(self.method, self.file)
        name = entry.name
        object.__setattr__(self, "method", name)
        object.__setattr__(self, "title", self.title or name)
        object.__setattr__(self, "order_seed", self.seed if self.order_seed < 0 else self.order_seed)
        object.__setattr__(self, "joint", self.joint or entry.joint)
        entry.check_parameters(self.parameters, "[method.parameters]")
        if self.seed < 0:
            raise ParameterError(f"seed: expected a whole number of at least 0, got {self.seed}.")
        if self.adaptation and not self.backbone:
            raise ParameterError("adaptation: expected a backbone that is adapted, got none. Set `backbone`.")
        if self.concatenate and not self.adaptation:
            raise ParameterError("concatenate: expected an adaptation beside the frozen backbone, got none.")
        if entry.takes == "items" and not self.backbone:
            raise ParameterError(f"backbone: {name} trains one, got none. Set `backbone`.")
        if entry.takes == "items" and self.adaptation:
            raise ParameterError(f"adaptation: {name} trains the backbone itself. Leave `adaptation` out.")
        if self.embedding and name != "AnaCP":
            raise ParameterError(f"embedding: only of AnaCP, whose stages it shows, got {name}. Set it to false.")
        if self.substitute is not None and not {"for"} <= self.substitute.keys() <= {"for", "note"}:
            raise ParameterError(f"[substitute]: expected `for` and `note`, got {', '.join(self.substitute)}.")
        self._check_column()

    def _check_column(self) -> None:
        """Refuse to set numbers of the paper beside others than its own, unless that is declared."""
        if self.paper is None or self.paper.column is None or self.substitute is not None:
            return
        column = self.paper.of.columns[self.paper.column]
        theirs = self.paper.of.column_of(self.dataset, self.backbone) == column.title
        if not theirs or self.scenario not in (ScenarioSettings(), ScenarioSettings(tasks=N_TASKS)):
            raise ParameterError(
                f"[paper] column: {column.title} is {column.dataset} with {column.backbone} in {N_TASKS} tasks, got "
                "something else. Leave `column` out, or declare a `substitute`."
            )

    @property
    def entry(self) -> MethodEntry:
        """The method's entry in the catalogue."""
        return METHODS[self.method]

    def __hash__(self) -> int:
        return hash((self.dataset, self.title, self.seed))

    @classmethod
    def from_dict(cls, table: object) -> Specification:
        """Return the specification that a table states, as `as_dict` gives it; each complaint names its place."""
        kinds = RUN_KEYS | {"dataset": (str,), "seed": (int,), "order_seed": (int,), "method": (str, dict)}
        stated = check_table(table, kinds | {"scenario": (dict,)}, needed=("dataset", "method"))
        method = stated.pop("method")
        method = {"name": method} if isinstance(method, str) else method
        method = check_table(method, METHOD_KEYS, "[method]", needed=("name",))
        scenario = ScenarioSettings.from_dict(stated.pop("scenario", {}))
        stated |= {"paper": _cell(stated["paper"])} if "paper" in stated else {}
        return cls(method=method.pop("name"), scenario=scenario, **method, **stated)

    def as_dict(self) -> dict[str, Any]:
        """Return every setting that has a value, ready for TOML and JSON."""
        method = {"name": self.method, "title": self.title, "file": self.file, "parameters": dict(self.parameters)}
        apart = {*method, "method", "scenario"}
        stated = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in apart}
        stated |= {
            "method": {key: value for key, value in method.items() if value},
            "scenario": self.scenario.as_dict(),
            "paper": None if self.paper is None else self.paper.as_dict(),
            "quick": self.quick or None,
            "substitute": None if self.substitute is None else dict(self.substitute),
        }
        return {key: value for key, value in stated.items() if value is not None}

    def to_toml(self) -> str:
        """Return the text of a file that `specifications` reads back."""
        return to_toml(self.as_dict())

    @property
    def folder(self) -> Path:
        """Where in a collection of runs this one is kept."""
        name = Path(self.dataset).stem if "/" in self.dataset else self.dataset.removeprefix("sample:")
        group = name if self.backbone is None else f"{name}+{self.backbone}"
        order = f"-order{self.order_seed}" if self.order_seed != self.seed else ""
        return Path(_plain(group)) / f"{_plain(self.title)}-seed{self.seed}{order}"


def _cell(table: object) -> Cell:
    stated = check_table(table, CELL_KEYS, "[paper]", needed=("table", "row"))
    try:
        return Cell(**stated)
    except UnknownNameError as problem:
        raise ParameterError(f"[paper] {problem}") from problem


def _plain(text: str) -> str:
    """Return the text as a name of a folder on any system."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-.") or "unnamed"
