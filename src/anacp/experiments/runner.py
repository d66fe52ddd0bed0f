"""One run from its specification to a finished folder; interrupted at any point, it goes on where it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from anacp.experiments.embedding import embedding
from anacp.experiments.events import Event, Finished, Stepped
from anacp.experiments.machine import environment, forget_peak
from anacp.experiments.material import Material, Materials
from anacp.experiments.outcome import outcome
from anacp.experiments.results import EMBEDDING, ENVIRONMENT, MODEL, RESULTS, Step
from anacp.experiments.run_folder import RunFolder
from anacp.experiments.specification import Specification
from anacp.experiments.steps import Judged, follow
from anacp.experiments.twins import tell_again
from anacp.files import home
from anacp.learners import Learner
from anacp.methods import Classifier, Method, OnFeatures, TrainedMethod, load
from anacp.progress import Report

# How much work a kill may cost before writing the model is worth its while.
CHECKPOINT_SECONDS = 20.0


def run(
    specification: Specification,
    folder: str | Path,
    *,
    fresh: bool = False,
    restart_changed: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    materials: Materials | None = None,
    report: Report | None = None,
    jobs: int = 1,
    twin: str | Path | None = None,
) -> Iterator[Event]:
    """Yield a `Stepped` after every task and a `Finished` at the end; everything is in the folder by then.

    Parameters
    ----------
    specification : Specification
        What is run.
    folder : path
        The run's own folder. One that holds the finished run is read instead, one that holds a part of it is resumed.
    fresh : bool
        Remove what is there and start over.
    restart_changed : bool
        Start over where the folder holds another specification, instead of refusing.
    checkpoint_seconds : float
        After how much work the method is written, so that a resumed run need not learn anew.
    materials : Materials, optional
        Data sets and features, to be shared by several runs of a process.
    report : callable, optional
        Told what takes long between steps, and how far it is.
    jobs : int
        How many runs go on side by side, for the record.
    twin : path, optional
        The folder of a finished run that differs in nothing but what it is called: its results are told again.

    Raises
    ------
    MismatchError
        If the folder holds a run of another specification.
    BusyError
        If another process is writing the folder.
    """
    materials = Materials() if materials is None else materials
    place = RunFolder(Path(folder))
    materials.check(specification)
    _, fingerprint = materials.dataset(specification.dataset)
    with place.locked():
        if fresh:
            place.clear()
        place.claim(specification, fingerprint, restart=restart_changed)
        result = place.finished()
        if result is not None:
            yield Finished(specification, result, reused=True)
            return
        if twin is not None and tell_again(specification, Path(twin), place, fingerprint):
            yield _finished(specification, place, reused=True)
            return
        material = materials.prepare(specification, report)
        backbone = None if material.encoder is None else material.encoder.fingerprint
        place.write_json(ENVIRONMENT, environment(backbone=backbone, dataset=fingerprint, jobs=jobs))
        yield from _learn(specification, material, place, checkpoint_seconds, report)
        yield _finished(specification, place, reused=False)


def _finished(specification: Specification, place: RunFolder, *, reused: bool) -> Finished:
    result = place.finished()
    assert result is not None
    return Finished(specification, result, reused=reused)


def _learn(
    specification: Specification, material: Material, place: RunFolder, checkpoint_seconds: float, report: Report | None
) -> Iterator[Stepped]:
    forget_peak()
    method, steps = place.resume(lambda path: _loaded(specification, material, path))
    method = method or _method(specification, material)
    n_steps = 1 if specification.joint else material.scenario.n_tasks
    last: Judged | None = None
    since = perf_counter()
    for judged in follow(
        method,
        material.train,
        material.test,
        material.scenario,
        domains=material.domains,
        joint=specification.joint,
        done=len(steps),
        report=report,
    ):
        last = judged
        steps.append(judged.step)
        place.append(judged.step)
        costly = perf_counter() - since >= checkpoint_seconds or not isinstance(method, OnFeatures)
        if len(steps) < n_steps and costly:  # a trained method gives up its own checkpoints with the next task
            place.checkpoint(method.save, len(steps))
            since = perf_counter()
        yield Stepped(specification, judged.step, n_steps)
    assert last is not None
    _finish(specification, material, place, method, steps, last)


def _method(specification: Specification, material: Material) -> Method:
    entry, parameters, seed = specification.entry, dict(specification.parameters), specification.seed
    if entry.takes == "features":
        learner = entry.new(random_state=seed, **{"device": specification.device, **parameters})
        learner.features_from = material.dataset.card.backbone
        return OnFeatures(learner)
    assert material.encoder is not None
    made: Method = entry.new(material.encoder.backbone, seed=seed, checkpoints=home() / "checkpoints", **parameters)
    return made


def _loaded(specification: Specification, material: Material, path: Path) -> Method:
    """Return the method as an earlier process left it."""
    if specification.entry.takes == "features":
        return OnFeatures(cast(Learner[Any], load(path, device=specification.device)))
    assert material.encoder is not None
    trained: type[TrainedMethod] = specification.entry.make
    return trained.load(path, backbone=material.encoder.backbone, checkpoints=home() / "checkpoints")


def _finish(
    specification: Specification, material: Material, place: RunFolder, method: Method, steps: list[Step], last: Judged
) -> None:
    results = outcome(specification, material, method, steps, last)
    if specification.keep_model:
        _save(material, method, place.path / MODEL)
    if specification.embedding:
        assert isinstance(method, OnFeatures)
        place.write_json(EMBEDDING, embedding(method.learner, material))
    place.write_json(RESULTS, results)


def _save(material: Material, method: Method, path: Path) -> None:
    """Write the final model, as a classifier of images or texts where there is an encoder."""
    if isinstance(method, OnFeatures) and material.encoder is not None:
        labels = material.dataset.train.labels
        Classifier.of_learned(material.encoder, method.learner, labels, material.digests).save(path)
    else:
        method.save(path)
