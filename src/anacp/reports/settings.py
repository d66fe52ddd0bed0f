"""What methods are compared on; runs that differ in more than the seed are never averaged."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anacp.experiments.results import RunResult
from anacp.reports import paper

__all__ = ["Setting", "settings_of"]

# Keys of a protocol that change from seed to seed; runs that differ in nothing else are averaged.
OF_THE_SEED = ("seed", "order_seed", "classes", "class_order")


@dataclass(frozen=True)
class Setting:
    """What methods are compared on: the data, the backbone and the protocol."""

    dataset: str
    backbone: str | None
    protocol: str  # JSON of what does not change from seed to seed
    substitute: str | None  # what it stands in for
    note: str  # why
    label: str

    @property
    def label_of_substitute(self) -> str | None:
        """The plain words that go wherever numbers of a substitute are shown."""
        return None if self.substitute is None else f"Substitute for {self.substitute}: {self.label} instead."

    def paper_column(self, table: str | None) -> paper.Column | None:
        """Return the paper's column that belongs beside this one."""
        n_tasks = json.loads(self.protocol).get("n_tasks")
        return paper.column_for(
            dataset=self.dataset, backbone=self.backbone, n_tasks=n_tasks, substitute=self.substitute, table=table
        )


def settings_of(runs: Sequence[RunResult]) -> dict[Path, Setting]:
    """Return the setting of each run, by its folder."""
    facts = {run.folder: (_name(run), _protocol(run.protocol)) for run in runs}
    protocols: dict[str, list[str]] = {}
    for name, protocol in facts.values():
        if protocol not in protocols.setdefault(name, []):
            protocols[name].append(protocol)
    settings: dict[Path, Setting] = {}
    for run in runs:
        name, protocol = facts[run.folder]
        label = name if len(protocols[name]) == 1 else f"{name} ({_difference(protocol, protocols[name])})"
        substitute = run.substitute or {}
        stands_for, note = substitute.get("for"), substitute.get("note") or ""
        backbone = run.backbone["name"] if run.backbone else None
        settings[run.folder] = Setting(str(run.dataset["name"]), backbone, protocol, stands_for, note, label)
    return settings


def _name(run: RunResult) -> str:
    dataset = str(run.dataset["name"])
    return f"{run.backbone['name']} on {dataset}" if run.backbone else dataset


def _protocol(protocol: Mapping[str, Any]) -> str:
    def of_all_seeds(entry: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in entry.items() if key not in OF_THE_SEED}
        if not isinstance(kept.get("order", ""), str):
            kept["order"] = "explicit"
        return {key: of_all_seeds(value) if isinstance(value, Mapping) else value for key, value in kept.items()}

    return json.dumps(of_all_seeds(protocol), sort_keys=True, ensure_ascii=False)


def _difference(protocol: str, others: Sequence[str]) -> str:
    """Say in what a protocol differs from the others of the same data."""
    loaded = [json.loads(other) for other in others]
    own = json.loads(protocol)
    keys = sorted({key for other in loaded for key in other if any(each.get(key) != other[key] for each in loaded)})
    words = [f"{own[key]} tasks" if key == "n_tasks" else f"{key} {own[key]}" for key in keys if key in own]
    return ", ".join(words) or "as given"
