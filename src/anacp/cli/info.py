"""`anacp info`: what is in a model file, without loading it."""

import json
from typing import Any

import typer

from anacp.cli.options import AsJson, Model
from anacp.files import TensorFile
from anacp.learners.keeping import MODEL
from anacp.learners.summary import format_bytes
from anacp.methods.origin import Origin

__all__ = ["info"]


def info(model: Model, as_json: AsJson = False) -> None:
    """Show backbone, learner, classes with their numbers of examples, size, date and version."""
    file = TensorFile(model, MODEL)
    header = file.header
    origin = Origin(**header["backbone"]) if "backbone" in header else None
    (counts,) = (tensor.tolist() for tensor in file.tensors("moments.counts").values())
    facts: dict[str, Any] = {
        "model": str(model),
        "backbone": header.get("backbone"),
        "learner": header["learner"],
        "parameters": header["parameters"],
        "n_features": header["n_features"],
        "examples": sum(counts),
        "classes": [{"label": c, "examples": n} for c, n in zip(header["classes"], counts, strict=True)],
        "solved": header.get("solution") is not None,
        "bytes": model.stat().st_size,
        "saved": header.get("saved"),
        "written_by": header["written_by"],
    }
    if as_json:
        print(json.dumps(facts))
        return
    lines = {
        "backbone": str(origin) if origin else "none: a learner of features",
        "learner": facts["learner"],
        "learned": f"{facts['examples']:,} examples of {len(counts):,} classes",
        "solved": "yes: predictions start at once" if facts["solved"] else "no: see `anacp solve`",
        "size": format_bytes(facts["bytes"]),
        "saved": f"{facts['saved'] or 'date not stated'} by {facts['written_by']}",
    }
    for name, text in lines.items():
        typer.echo(f"{name:<9} {text}")
    typer.echo(f"\n{'examples':>8}  class")
    for entry in facts["classes"]:
        typer.echo(f"{entry['examples']:>8,}  {entry['label']}")
