"""`anacp report`: finished runs as one page, with tables and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from anacp import cli, reports
from anacp.cli.options import AsJson
from anacp.words import counted


def report_command(
    folders: Annotated[
        list[Path], typer.Argument(help="Run folders, or folders with runs anywhere below them.", show_default=False)
    ],
    output: Annotated[Path, typer.Option(help="The page, or a folder for it; other formats stand beside it.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="The heading.", show_default=False)] = None,
    formats: Annotated[str, typer.Option(help="Separated by commas: html, md, tex, csv.")] = "html,md,tex,csv",
    as_json: AsJson = False,
) -> None:
    """Write what finished runs found: one HTML page that needs nothing else, and tables in Markdown, LaTeX and CSV."""
    console = cli.Screen(quiet=as_json, soft_wrap=True, highlight=False, markup=False)
    collection = reports.collect(folders)
    console.print(f"{counted(len(collection.runs), 'finished run')} read")
    for entry in collection.left_out:
        console.print(f"left out: {entry.folder}: {entry.reason}")
    chosen = [name.strip() for name in formats.split(",") if name.strip()]
    written = reports.write_report(collection, output, title=title, formats=chosen)
    for path in written:
        console.print(f"{path}")
    if as_json:
        facts = {
            "runs": [str(run.folder) for run in collection.runs],
            "left_out": [{"folder": str(entry.folder), "reason": entry.reason} for entry in collection.left_out],
            "substitutes": collection.substitutes,
            "written": [str(path) for path in written],
        }
        print(json.dumps(facts))
