"""`anacp learn`: photos or sentences into a model file, now and again."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from anacp import backbones, cli, cluster, datasets, encoders, items, methods
from anacp.cli.learn_on_cluster import learn_there
from anacp.cli.learn_results import say_learned
from anacp.cli.learn_rows import learn_rows
from anacp.cli.method_name import method_named
from anacp.cli.options import (
    AsJson,
    ClusterOption,
    Device,
    Exact,
    Examples,
    Label,
    LabelColumn,
    LayersOption,
    OnBad,
    OnErrorOption,
    PathColumn,
    RemoteCode,
    Solve,
    Split,
    Strict,
    TextColumn,
    layers_of,
)
from anacp.cli.sources import expected_modality, source_of
from anacp.cli.stopping import FileBefore, kept
from anacp.errors import InputError, MismatchError, ParameterError
from anacp.files import home, locked
from anacp.words import counted

BACKBONES = {"image": "efficientnet-lite0", "text": "minilm-l6"}


def learn(
    examples: Examples,
    model: Annotated[Path, typer.Option(help="The model file; made if it is not there.", show_default=False)],
    backbone: Annotated[
        str | None,
        typer.Option(help="efficientnet-lite0 for images and minilm-l6 for texts if left out.", show_default=False),
    ] = None,
    learner: Annotated[
        str | None, typer.Option(help="AnaCP if left out; FILE.py for a method of your own.", show_default=False)
    ] = None,
    layers: LayersOption = None,
    label: Label = None,
    split: Split = None,
    on_error: OnBad = OnErrorOption.refuse,
    strict: Strict = False,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    path_column: PathColumn = None,
    solve: Solve = True,
    exact: Exact = False,
    on_cluster: ClusterOption = None,
    device: Device = "cpu",
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Learn labelled examples: new classes, more of old ones, or both. What is known already is left out."""
    console = cli.Screen(quiet=as_json)
    if label is None and all(map(cluster.has_features, examples)):
        if backbone is not None or layers is not None:
            raise ParameterError(
                f"Expected no --backbone and no --layers for rows of features, got {backbone or layers!r} with "
                f"{', '.join(examples)}. Leave it out: no network is asked."
            )
        stated: dict[str, Any] = {"solve": solve, "exact": exact, "as_json": as_json}
        learn_rows(model, examples, learner=learner, split=split, address=on_cluster, **stated)
        return
    columns = datasets.Columns(text_column, label_column, path_column)
    if on_cluster is not None:
        modality = expected_modality(model, backbone)
        reading = cluster.Reading(label, split, on_error.value, columns, modality)
        made: dict[str, Any] = {"backbone": backbone, "learner": learner, "layers": layers, "remote_code": remote_code}
        options: dict[str, Any] = {"strict": strict, "solve": solve, "exact": exact, "device": device}
        with kept(lambda: "The same command goes on where this one was."), locked(model):
            modality = modality or cluster.modality_of(reading, examples)
            classifier = _open(model, modality, **made)
            with cluster.connected(on_cluster) as nodes:
                there = learn_there(classifier, model, examples, nodes, reading, console=console, **options)
        seconds = there.solve_seconds, there.save_seconds
        say_learned(model, there.classifier, there.found, there.result, seconds, there.tally, console, as_json)
        return
    found = datasets.read_labelled(
        *examples,
        label=label,
        split=split,
        on_error=on_error.value,
        strict=strict,
        columns=columns,
        modality=expected_modality(model, backbone),
    )
    before = FileBefore(model)
    with kept(lambda: f"{before.words()} {_kept_features(model)}".strip()), locked(model):
        classifier = _open(model, found.modality, backbone, learner, layers, remote_code, device)
        with cli.shown_progress(console) as report:
            options = {"on_error": on_error.value, "on_conflict": on_error.value, "report": report}
            options["source"] = source_of(examples)
            result = classifier.learn(list(found.items), found.labels, **options)
        if not result.n_new and not classifier.n_examples:
            raise InputError(
                f"Expected examples that can be learned in {', '.join(examples)}, got none of {len(found)}: "
                f"{len(result.skipped):,} cannot be read, {len(result.conflicts):,} are of two classes."
            )
        solve_seconds = cli.solve_visibly(classifier, console) if solve and result.n_new else 0.0
        start = perf_counter()
        if result.n_new:
            classifier.save(model, exact=exact)
        save_seconds = perf_counter() - start
        _unfinished(model).clear()  # features were kept against being stopped; the model file knows the examples now
    say_learned(model, classifier, found, result, (solve_seconds, save_seconds), None, console, as_json)


def _open(
    model: Path,
    modality: str,
    backbone: str | None,
    learner: str | None,
    layers: str | None,
    remote_code: bool,
    device: str = "cpu",
) -> methods.Classifier:
    store = _unfinished(model)
    method = None if learner is None else method_named(learner)
    if not model.exists():
        name = backbone or BACKBONES[modality]
        encoder = encoders.Encoder(name, layers=layers_of(layers), remote_code=remote_code, device=device)
        return methods.Classifier(encoder, method or "AnaCP", store=store)
    classifier = methods.Classifier.load(model, backbone=backbone, store=store, remote_code=remote_code, device=device)
    if classifier.modality != modality:
        raise MismatchError(
            f"Expected {classifier.modality}s, which {model} was learned with ({classifier.encoder.name}), "
            f"got {modality}s. Give another --model for these."
        )
    if layers is not None:
        _check_layers(classifier.encoder, layers, model)
    asked, learned = None if method is None else methods.find_method(method).new(), classifier.learner
    if asked is not None and (type(asked) is not type(learned) or asked.get_params() != learned.get_params()):
        raise MismatchError(
            f"Expected --learner {type(learned).__name__} as in {model}, or none, got {learner}. "
            "What was learned cannot change its method: give another --model."
        )
    return classifier


def _check_layers(encoder: encoders.Encoder, layers: str, model: Path) -> None:
    """Refuse other layers than a model has; "auto" goes on with those that were chosen."""
    asked = layers_of(layers)
    if asked is None or asked == "auto":
        return
    wanted = encoder.backbone.with_layers(backbones.LAST_LAYER if isinstance(asked, str) else asked)
    if wanted.identity.layers != encoder.origin.layers:
        raise MismatchError(
            f"Expected the layers of {model}, {list(encoder.origin.layers)}, or no --layers, got {layers}. What was "
            "learned cannot change its layers: give another --model."
        )


def _unfinished(model: Path) -> encoders.FeatureStore:
    """Return where the features of one model are kept until it is saved."""
    return encoders.FeatureStore(home() / "unfinished" / items.content_hash(str(model.resolve()).encode()))


def _kept_features(model: Path) -> str:
    """Return what was computed and waits for the next run."""
    n = sum(entry.n_rows for entry in _unfinished(model).entries())
    return f"The features of {counted(n, 'example')} are kept: the same command goes on from there." if n else ""
