"""Where the numbers come from: protocols, data, backbones, machines, runs."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anacp.experiments import RunResult
from anacp.reports.collection import Collection, mean_of
from anacp.reports.tables.table import Table, TableCell, TableColumn, TableRow, measured, seconds, text_columns, words
from anacp.words import counted

# Data whose classes are those of a larger set: met in pretraining under the larger set's name.
DRAWN_FROM = {
    "imagenet-r": "imagenet",
    "tiny-imagenet": "imagenet",
    "cub-200-2011": "cub",
    "stanford-cars": "cars",
    "stanford-cars-190": "cars",
}

FINGERPRINTS = ("backbone", "dataset")  # told in tables of their own
SHOWN = ("anacp", "python", "torch", "cpu")  # of an environment, without unfolding it


@dataclass(frozen=True)
class Listing:
    """Something long that unfolds."""

    summary: str
    lines: tuple[str, ...]


def protocols(collection: Collection) -> list[Listing]:
    """Return every distinct protocol in full, with the runs that followed it."""
    found: dict[str, list[RunResult]] = {}
    for run in collection.runs:
        found.setdefault(json.dumps(run.protocol, sort_keys=True, ensure_ascii=False), []).append(run)
    listings = []
    for text, followed in found.items():
        protocol = json.loads(text)
        short = [f"{key} {value}" for key, value in protocol.items() if not isinstance(value, list | dict | None)]
        data = ", ".join(dict.fromkeys(str(run.dataset["name"]) for run in followed))
        if "class_order" in protocol:
            protocol.pop("classes", None)  # the same classes, sorted
        lines = [f"{key}: {_plain(value)}" for key, value in protocol.items()]
        listings.append(Listing(f"{data}: {', '.join(short)} ({counted(len(followed), 'run')})", tuple(lines)))
    return listings


def datasets_table(collection: Collection) -> Table:
    """Return name, sizes and terms of every data set."""
    names = ("name", "title", "n_classes", "n_train", "n_test", "licence", "fingerprint")
    heads = ("data set", "title", "classes", "training rows", "test rows", "licence", "contents")
    columns = [TableColumn(head, numeric=name.startswith("n_")) for head, name in zip(heads, names, strict=True)]
    rows = dict.fromkeys(TableRow(tuple(_fact(run.dataset.get(name)) for name in names)) for run in collection.runs)
    return Table("data-sets", "Data sets: terms, and contents by fingerprint.", tuple(columns), tuple(rows))


def backbones_table(collection: Collection) -> Table:
    """Return every backbone on every data set, with what it may have seen of the test classes."""
    heads = ("backbone", "data set", "weights", "pretrained on", "licence", "leakage")
    used: dict[tuple[str, str], list[RunResult]] = {}
    for run in collection.runs:
        name = str(run.made_by.get("name", "features as given"))
        used.setdefault((name, str(run.dataset["name"])), []).append(run)
    rows = []
    for (name, data), by in used.items():
        known = by[0].made_by
        terms = (known.get("pretrained_on"), known.get("licence"), leakage(known.get("pretrained_on"), data))
        rows.append(TableRow(tuple(words(text) for text in (name, data, _weights(by), *terms))))
    text = "Backbones: which weights, by fingerprint, and whether pretraining may have met the test classes."
    return Table("backbones", text, text_columns(*heads), tuple(rows))


def _weights(by: Sequence[RunResult]) -> str:
    """Return the fingerprints of the weights that runs used as they are, and how many were adapted."""
    known = {(bool(run.adaptation), str(run.made_by["fingerprint"])) for run in by if "fingerprint" in run.made_by}
    frozen = sorted(fingerprint for adapted, fingerprint in known if not adapted)
    n_adapted = len(known) - len(frozen)
    return ", ".join([*frozen, *([f"{n_adapted} adapted"] if n_adapted else [])])


def leakage(pretrained_on: str | None, dataset: str) -> str:
    """Say what pretraining may have revealed of the test classes."""
    if not pretrained_on:
        return "Not recorded: whether the backbone has met the test classes is unknown."
    known = pretrained_on.casefold()
    source = DRAWN_FROM.get(dataset, dataset.rpartition(":")[2]).casefold()
    named = source in known.replace("-", "") or source in known
    if "without" in known:
        if named:
            return "Pretraining met examples of these classes, without their labels."
        return "Examples of the test classes may be in the pretraining data; their labels are not."
    if named:
        return "Pretraining met these classes with their labels: they are not new to the backbone."
    return "Trained with labels: test classes that also occur there are not new to the backbone."


def environments(collection: Collection) -> list[Listing]:
    """Return every distinct environment, with the number of runs made in it."""
    told = [
        {key: value for key, value in run.environment.items() if key not in FINGERPRINTS} for run in collection.runs
    ]
    found = Counter(json.dumps(facts, sort_keys=True, ensure_ascii=False) for facts in told)
    listings = []
    for text, n in found.items():
        facts = dict(_flat(json.loads(text)))
        short = {key.rpartition(" ")[2]: value for key, value in facts.items()}
        known = [f"{key} {short[key]}" for key in SHOWN if key in short]
        head = ", ".join(known) or ("as recorded" if facts else "not recorded")
        listings.append(
            Listing(f"{head} ({counted(n, 'run')})", tuple(f"{key}: {value}" for key, value in facts.items()))
        )
    return listings


def runs_table(collection: Collection) -> Table:
    """Return all runs, one a row."""
    columns = (
        *text_columns("run", "title", "method", "data set"),
        *map(TableColumn, ("seed", "A_last", "A_avg", "all, s")),
    )
    rows = [
        TableRow(
            (
                *map(words, (run.folder.name, run.title, run.method, run.dataset["name"])),
                TableCell(str(run.seed), run.seed),
                *(measured(mean_of([run.metrics.get(name)])) for name in ("A_last", "A_avg")),
                seconds(sum(run.seconds.values())),
            )
        )
        for run in collection.runs
    ]
    return Table("runs", f"All {counted(len(rows), 'run')} of this report.", columns, tuple(rows))


def _fact(value: object) -> TableCell:
    return TableCell(f"{value:,}", value) if isinstance(value, int) else words(value)


def _flat(facts: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    pairs = []
    for key, value in facts.items():
        name = f"{before} {key}".strip()
        pairs += _flat(value, name) if isinstance(value, Mapping) else [(name, _plain(value))]
    return pairs


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
