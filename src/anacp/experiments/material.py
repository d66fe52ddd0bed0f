"""What a run learns from: examples, or their features, computed once for all runs that need the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import numpy as np

from anacp.adaptation import Adaptation, adapt, concatenated
from anacp.adaptation import Progress as Training
from anacp.atomic import replacing
from anacp.backbones import Backbone, backbone
from anacp.datasets import Dataset, Examples, open_dataset
from anacp.errors import InputError
from anacp.experiments.scenario_settings import Domains
from anacp.experiments.specification import Specification
from anacp.features import FeatureStore, features_of
from anacp.features import Progress as Extraction
from anacp.features.identity import item_name
from anacp.home import home
from anacp.methods.choosing import takes
from anacp.methods.given import as_items
from anacp.methods.method import Progress
from anacp.scenarios import Scenario

__all__ = ["Material", "Materials", "needs"]


@dataclass(frozen=True, eq=False)
class Material:
    """Everything that a method is given in a run."""

    dataset: Dataset
    fingerprint: str  # of the data set
    scenario: Scenario
    domains: Domains | None
    train: Examples  # rows of features, or the items where a method trains on these
    test: Examples
    backbone: Backbone | None  # as it made the features: adapted, if it was
    frozen: Backbone | None  # before that
    adaptation: Adaptation | None
    seconds: dict[str, float]  # adapt, features


class Materials:
    """Opens data sets, adapts backbones and extracts features; keeps the last few for the runs that follow."""

    def __init__(self) -> None:
        self._datasets: dict[str, tuple[Dataset, str]] = {}
        self._backbones: dict[tuple[str, str], Backbone] = {}
        self._prepared: dict[str, Material] = {}

    def dataset(self, name: str) -> tuple[Dataset, str]:
        """Return a data set and its fingerprint."""
        if name not in self._datasets:
            opened = open_dataset(name)
            self._datasets[name] = opened, _fingerprint(opened)
        return self._datasets[name]

    def scenario(self, specification: Specification) -> tuple[Scenario, Domains | None]:
        """Return the scenario of a run, and the domains of its rows if it has some."""
        dataset, _ = self.dataset(specification.dataset)
        domains = specification.scenario.read_domains()
        return specification.scenario.scenario(dataset.train.labels, domains, specification.order_seed), domains

    def check(self, specification: Specification) -> None:
        """Refuse, before anything is computed, what cannot run: an impossible scenario, or data of the wrong kind."""
        dataset, _ = self.dataset(specification.dataset)
        if specification.backbone is None and dataset.modality != "features":
            raise InputError(
                f"Expected features, got {dataset.modality}s ({dataset.name}). Set a `backbone` to encode them."
            )
        if specification.backbone is not None and dataset.modality == "features":
            raise InputError(
                f"Expected images or texts for the backbone {specification.backbone}, got features ({dataset.name}). "
                "Leave `backbone` out."
            )
        self.scenario(specification)

    def prepare(self, specification: Specification, report: Progress | None = None) -> Material:
        """Return the material of a run; what was computed before comes from memory or from the store."""
        key = _key(specification)
        if key not in self._prepared:
            while len(self._prepared) > 1:  # features of two data sets may be large
                del self._prepared[next(iter(self._prepared))]
            self._prepared[key] = self._prepare(specification, report or (lambda share, words: None))
        return self._prepared[key]

    def _prepare(self, specification: Specification, report: Progress) -> Material:
        self.check(specification)
        dataset, fingerprint = self.dataset(specification.dataset)
        scenario, domains = self.scenario(specification)
        seconds = {"adapt": 0.0, "features": 0.0}
        frozen = adapted = self._backbone(specification, dataset)
        train, test, adaptation = dataset.train, dataset.test, None
        if frozen is not None and adapted is not None and takes(specification.method) == "features":
            encoders = [frozen]
            if specification.adaptation is not None:
                adaptation, seconds["adapt"] = _adapt(specification, frozen, train, scenario, domains, report)
                adapted = adaptation.apply(frozen)
                encoders = [frozen, adapted] if specification.concatenate else [adapted]
                adapted = concatenated(frozen, adapted) if specification.concatenate else adapted
            train, of_train = _encoded(encoders, train, "features of the training set", report)
            test, of_test = _encoded(encoders, test, "features of the test set", report)
            seconds["features"] = of_train + of_test
        return Material(dataset, fingerprint, scenario, domains, train, test, adapted, frozen, adaptation, seconds)

    def _backbone(self, specification: Specification, dataset: Dataset) -> Backbone | None:
        if specification.backbone is None:
            return None
        key = specification.backbone, specification.device
        if key not in self._backbones:
            self._backbones = {key: backbone(specification.backbone, device=specification.device)}
        loaded = self._backbones[key]
        if loaded.modality != dataset.modality:
            raise InputError(
                f"Expected {loaded.modality}s for the backbone {specification.backbone}, got {dataset.modality}s "
                f"({dataset.name})."
            )
        return loaded


def needs(specification: Specification) -> frozenset[str]:
    """Return the sets of features that a run needs, by names that runs which need the same share."""
    if specification.backbone is None or takes(specification.method) == "items":
        return frozenset()
    frozen = {name: getattr(specification, name) for name in ("dataset", "backbone", "device")}
    adapted = frozen | {name: getattr(specification, name) for name in ("adaptation", "seed", "order_seed")}
    adapted |= {"scenario": specification.scenario.as_dict()}
    if specification.adaptation is None:
        return frozenset({json.dumps(frozen)})
    return frozenset({json.dumps(adapted)} | ({json.dumps(frozen)} if specification.concatenate else set()))


def _key(specification: Specification) -> str:
    """Return what decides the material, as text."""
    parts: dict[str, Any] = {
        name: getattr(specification, name)
        for name in ("dataset", "backbone", "adaptation", "concatenate", "device", "order_seed")
    }
    parts |= {"scenario": specification.scenario.as_dict(), "takes": takes(specification.method)}
    return json.dumps(parts | ({"seed": specification.seed} if specification.adaptation else {}))


def _adapt(
    specification: Specification,
    frozen: Backbone,
    train: Examples,
    scenario: Scenario,
    domains: Domains | None,
    report: Progress,
) -> tuple[Adaptation, float]:
    """Adapt to the first task. Its checkpoints are shared: all methods of a seed adapt once."""
    batches = scenario.tasks(train.labels, None if domains is None else domains[0])
    rows = np.concatenate([task.rows for task in batches if task.stage == 0])
    first = train.take(rows)

    spent = 0.0

    def follow(step: Training) -> None:
        nonlocal spent
        spent = step.seconds
        done = (step.epoch - 1) * step.n_steps + step.step
        report(done / (step.n_epochs * step.n_steps), f"adapting the backbone, epoch {step.epoch} of {step.n_epochs}")

    assert specification.adaptation is not None
    start = perf_counter()
    adaptation = adapt(
        frozen,
        as_items(cast(Sequence[Any], first.items)),
        first.labels,
        recipe=specification.adaptation,
        seed=specification.seed,
        checkpoints=home() / "adaptations",
        progress=follow,
    )
    return adaptation, _cost(adaptation.fingerprint, max(spent, perf_counter() - start))


def _encoded(encoders: Sequence[Backbone], examples: Examples, what: str, report: Progress) -> tuple[Examples, float]:
    """Return features side by side: each encoder's are in the store once, whoever else is beside it."""

    def follow(step: Extraction) -> None:
        report(step.done / step.total if step.stage == "extract" else 0.0, what)

    items = as_items(cast(Sequence[Any], examples.items))
    columns, seconds = [], 0.0
    for encoder in encoders:
        start = perf_counter()
        found = features_of(encoder, items, store=FeatureStore(), progress=follow)
        columns.append(found.x)
        seconds += _cost(found.entry.key, perf_counter() - start)
    return Examples(columns[0] if len(columns) == 1 else np.hstack(columns), examples.labels), seconds


def _cost(what: str, seconds: float) -> float:
    """Return how long it took when it was computed: finding it again costs next to nothing, and says nothing."""
    path = home() / "costs" / f"{hashlib.blake2b(what.encode(), digest_size=16).hexdigest()}.json"
    try:
        return float(json.loads(path.read_text())["seconds"])
    except (OSError, ValueError, KeyError):
        with replacing(path) as temporary:
            temporary.write_text(json.dumps({"what": what, "seconds": seconds}))
        return seconds


def _fingerprint(dataset: Dataset) -> str:
    """Return a hash of labels and features, texts or names of images: enough to notice that data were exchanged."""
    digest = hashlib.blake2b(digest_size=16)
    for examples in (dataset.train, dataset.test):
        if isinstance(examples.items, np.ndarray):
            digest.update(np.ascontiguousarray(examples.items).data)
        else:
            text = dataset.modality == "text"
            names = (str(item) if text else item_name(item, None) for item in as_items(examples.items))
            digest.update("\0".join(names).encode(errors="surrogatepass"))
        digest.update("\n".join(map(str, examples.labels.tolist())).encode())
    return digest.hexdigest()
