"""What a run learns from: examples, or their features, computed once for all runs that need the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from anacp.adaptation import finished, train
from anacp.datasets import Dataset, Examples, open_dataset
from anacp.encoders import Encoded, Encoder, FeatureStore
from anacp.errors import InputError
from anacp.experiments.scenario_settings import Domains, ScenarioSettings
from anacp.experiments.specification import Specification
from anacp.files import home
from anacp.progress import Progress, Report
from anacp.scenarios import Scenario, Task

# What decides features of the frozen backbone; and beside that, of the adapted one.
FROZEN, ADAPTED = ("dataset", "backbone", "device"), ("adaptation", "seed", "order_seed", "scenario")


@dataclass(frozen=True, eq=False)
class Material:
    """Everything that a method is given in a run."""

    dataset: Dataset
    fingerprint: str  # of the data set
    scenario: Scenario
    domains: Domains | None
    train: Examples  # rows of features, or the items where a method trains on these
    test: Examples
    encoder: Encoder | None  # what made the features, or what a method trains
    digests: list[bytes]  # of the training items, where features were made of them
    seconds: dict[str, float]  # adapt, features

    def first_task(self) -> Examples:
        """Return the training examples of the first task, all its batches together."""
        batches = self.scenario.tasks(self.train.labels, self.domains[0] if self.domains else None)
        return self.train.take(np.concatenate([task.rows for task in batches if task.stage == 0]))

    def test_tasks(self) -> list[Task]:
        """Return the test rows of every task."""
        return list(self.scenario.test_tasks(self.test.labels, self.domains[1] if self.domains else None))


class Materials:
    """Opens data sets, adapts backbones and extracts features; keeps the last few for the runs that follow."""

    def __init__(self) -> None:
        self._datasets: dict[str, tuple[Dataset, str]] = {}
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

    def prepare(self, specification: Specification, report: Report | None = None) -> Material:
        """Return the material of a run; what was computed before comes from memory or from the store."""
        key = _key(specification)
        if key not in self._prepared:
            while len(self._prepared) > 1:  # features of two data sets may be large
                del self._prepared[next(iter(self._prepared))]
            self._prepared[key] = self._prepare(specification, report or (lambda progress: None))
        return self._prepared[key]

    def _prepare(self, specification: Specification, report: Report) -> Material:
        self.check(specification)
        dataset, fingerprint = self.dataset(specification.dataset)
        scenario, domains = self.scenario(specification)
        encoder = _encoder(specification, dataset)
        nothing = {"adapt": 0.0, "features": 0.0}
        material = Material(dataset, fingerprint, scenario, domains, dataset.train, dataset.test, encoder, [], nothing)
        if encoder is None or specification.entry.takes == "items":
            return material
        spent = 0.0
        if specification.adaptation is not None:
            encoder, spent = _adapted(specification, material, report)
        rows = _encoded(encoder, dataset.train, "features of the training set", report)
        judged = _encoded(encoder, dataset.test, "features of the test set", report)
        return replace(
            material,
            train=Examples(rows.x, dataset.train.labels),
            test=Examples(judged.x, dataset.test.labels),
            encoder=encoder,
            digests=rows.digests,
            seconds={"adapt": spent, "features": rows.seconds + judged.seconds},
        )


def needs(specification: Specification) -> frozenset[str]:
    """Return the sets of features that a run needs, by names that runs which need the same share."""
    if specification.backbone is None or specification.entry.takes == "items":
        return frozenset()
    frozen = _stated(specification, *FROZEN)
    if specification.adaptation is None:
        return frozenset({frozen})
    adapted = _stated(specification, *FROZEN, *ADAPTED)
    return frozenset({adapted, frozen} if specification.concatenate else {adapted})


def _key(specification: Specification) -> str:
    """Return what decides the material, as text."""
    seed = ("seed",) if specification.adaptation else ()
    decided = _stated(specification, *FROZEN, "adaptation", "concatenate", "order_seed", "scenario", *seed)
    return f"{decided} {specification.entry.takes}"


def _stated(specification: Specification, *names: str) -> str:
    return json.dumps({name: getattr(specification, name) for name in names}, default=ScenarioSettings.as_dict)


def _encoder(specification: Specification, dataset: Dataset) -> Encoder | None:
    """Return the frozen encoder of a run; a backbone that takes other data is refused."""
    if specification.backbone is None:
        return None
    encoder = Encoder(specification.backbone, device=specification.device)
    if encoder.modality != dataset.modality:
        raise InputError(
            f"Expected {encoder.modality}s for the backbone {specification.backbone}, got {dataset.modality}s "
            f"({dataset.name})."
        )
    return encoder


def _adapted(specification: Specification, material: Material, report: Report) -> tuple[Encoder, float]:
    """Adapt to the first task. Its checkpoints are shared: all methods of a seed adapt once."""
    assert material.encoder is not None
    assert specification.adaptation is not None
    frozen, first = material.encoder.backbone, material.first_task()
    how: dict[str, Any] = {
        "recipe": specification.adaptation,
        "seed": specification.seed,
        "checkpoints": home() / "adaptations",
    }
    trained = finished(train(frozen, cast(Sequence[Any], first.items), first.labels, **how), report)
    encoder = Encoder(frozen, adaptation=trained.adaptation, concatenate=specification.concatenate)
    return encoder, trained.seconds


def _encoded(encoder: Encoder, examples: Examples, what: str, report: Report) -> Encoded:
    def follow(progress: Progress) -> None:
        report(replace(progress, words=what))

    return encoder.encode(cast(Sequence[Any], examples.items), store=FeatureStore(), report=follow)


def _fingerprint(dataset: Dataset) -> str:
    """Return a hash of labels and features, texts or names of images: enough to notice that data were exchanged."""
    digest = hashlib.blake2b(digest_size=16)
    for examples in (dataset.train, dataset.test):
        if isinstance(examples.items, np.ndarray):
            digest.update(np.ascontiguousarray(examples.items).data)
        else:
            names = (str(getattr(item, "name", item)) for item in examples.items)
            digest.update("\0".join(names).encode(errors="surrogatepass"))
        digest.update("\n".join(map(str, examples.labels.tolist())).encode())
    return digest.hexdigest()
