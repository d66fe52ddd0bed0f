"""A classifier as the contents of a model file, and back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anacp.adaptation import Adaptation
from anacp.backbones import Backbone, EngineName
from anacp.encoders import ADAPTATION, Encoder
from anacp.errors import ModelFileError
from anacp.files import TensorFile, write_tensors
from anacp.learners import LEARNER, MODEL, Learner, contents, restored
from anacp.methods.finding import learner_class
from anacp.methods.header import CLASSIFIER
from anacp.methods.journal import Journal
from anacp.methods.learned_examples import EXAMPLES, LearnedExamples
from anacp.methods.taught import Taught


def write_classifier(path: str | Path, encoder: Encoder, taught: Taught, *, exact: bool) -> None:
    """Write what was taught, and by which features, all or nothing."""
    header, tensors = contents(taught.learner, exact=exact, solution=True)
    about, parts = encoder.contents()
    saved = datetime.now(UTC).isoformat(timespec="seconds")
    examples = {f"{EXAMPLES}{name}": one for name, one in taught.examples.tensors(taught.classes.tolist()).items()}
    journal = taught.journal
    stated = {"kind": "classifier", **header, **about, "saved": saved, "journal": journal.stated()}
    write_tensors(path, MODEL, stated, {**tensors, **parts, **examples, **journal.tensors()})


def read_classifier(
    path: str | Path | TensorFile,
    *,
    backbone: str | Backbone | None,
    engine: EngineName,
    device: str,
    remote_code: bool,
) -> tuple[Encoder, Taught]:
    """Return the encoder and what was taught."""
    file = path if isinstance(path, TensorFile) else TensorFile(path, MODEL)
    if "backbone" not in file.header:
        raise ModelFileError(
            f"Expected a classifier, got a model of another kind: {file.path}. `anacp info` says what it is; "
            "`anacp.load` reads it in Python."
        )
    learner, adaptation = _checked_learner(file, device), file.tensors(ADAPTATION)
    parts = {f"{ADAPTATION}{name}": one for name, one in adaptation.items()}
    options: dict[str, Any] = {"engine": engine, "device": device, "remote_code": remote_code}
    encoder = Encoder.restored(file.header, parts, backbone=backbone, **options)
    examples = LearnedExamples.restored(learner.classes_.tolist(), file)
    return encoder, Taught(learner, examples, Journal.restored(file))


def _checked_learner(file: TensorFile, device: str) -> Learner[Any]:
    """Return the learner of a classifier's file, if the whole file is what a classifier writes."""
    file.check_header(LEARNER | CLASSIFIER)
    header = file.header
    outlines = LearnedExamples.outlines(file, len(header["classes"])) | Journal.outlines(file)
    if "adaptation" in header:
        Adaptation.check_tensors(file, header["adaptation"], ADAPTATION)
        outlines |= {f"{ADAPTATION}{name}": one for name, one in file.outlines(ADAPTATION).items()}
    if header["backbone"]["n_features"] != header["n_features"]:
        raise file.damage("backbone.n_features is not n_features")
    return restored(learner_class(file), file, device=device, facts=CLASSIFIER, outlines=outlines)
