"""`anacp export`: a model as one ONNX file, for onnxruntime alone."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from anacp import exports, methods
from anacp.cli.options import AsJson, Backbone, ModelPath, RemoteCode
from anacp.cli.say import say
from anacp.words import format_bytes


def export(
    model: ModelPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .onnx file to write.", show_default=False)],
    with_backbone: Annotated[
        bool, typer.Option("--with-backbone", help="From preprocessed pixels or tokens, instead of from features.")
    ] = False,
    exact: Annotated[bool, typer.Option("--exact", help="Weights in float32, instead of 12 bits.")] = False,
    backbone: Backbone = None,
    remote_code: RemoteCode = False,
    as_json: AsJson = False,
) -> None:
    """Write what predicts as one ONNX graph, for onnxruntime alone; it is compared with the library first."""
    from anacp.cli.screen import Screen

    loaded = methods.load(model, backbone=backbone, remote_code=remote_code)
    with Screen(quiet=as_json, stderr=True).status("exporting"):
        written = exports.export(loaded, output, with_backbone=with_backbone, exact=exact)
    found = written.deviation
    facts = {
        "model": str(output),
        "bytes": written.n_bytes,
        "inputs": list(written.inputs),
        "deviation": asdict(found),
    }
    line = (
        f"{output}: {', '.join(written.inputs)} to scores and probabilities, {format_bytes(written.n_bytes)}\n"
        f"Compared on {found.n_rows:,} rows: probabilities differ by up to {found.probabilities:.2g}, "
        f"{100 * found.equal:.2f} % of the answers are equal"
    )
    say(json.dumps(facts) if as_json else line)
