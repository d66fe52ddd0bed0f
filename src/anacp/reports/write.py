"""From run folders to files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from anacp.errors import ParameterError
from anacp.files import replacing
from anacp.names import unknown_name
from anacp.reports.collection import Collection, collect
from anacp.reports.contents import Contents, report_contents
from anacp.reports.page import page
from anacp.reports.pictures import Absent, Picture
from anacp.reports.provenance import Listing
from anacp.reports.tables.table import Table
from anacp.reports.tables.to_latex import escape, to_latex
from anacp.reports.tables.to_text import plain, to_csv, to_markdown

FORMATS = ("html", "md", "tex", "csv")


def report(
    paths: str | Path | Iterable[str | Path],
    output: str | Path = "report.html",
    *,
    title: str | None = None,
    formats: Sequence[str] = ("html",),
) -> list[Path]:
    """Write what finished runs found: one HTML file that needs nothing else, and tables in other formats.

    Parameters
    ----------
    paths : path or iterable of paths
        Run folders, or folders with run folders anywhere below them.
    output : path, default="report.html"
        The HTML file, or a folder for report.html. Other formats stand beside it under the same name, CSV as one file
        for each table.
    title : str, optional
        The heading; by default what the runs stand for, their backbones and data.
    formats : sequence of {"html", "md", "tex", "csv"}, default=("html",)
        What to write.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    MissingDataError
        If there is no finished run.
    """
    return write_report(collect(paths), Path(output), title=title, formats=formats)


def markdown(paths: str | Path | Iterable[str | Path], *, title: str | None = None) -> str:
    """Return the tables of finished runs as one Markdown page."""
    return _markdown(report_contents(collect(paths), title=title, drawn=False))


def write_report(collection: Collection, output: Path, *, title: str | None, formats: Sequence[str]) -> list[Path]:
    """Write the report of runs that were read already."""
    for name in formats:
        if name not in FORMATS:
            raise unknown_name("format", name, FORMATS)
    if not formats:
        raise ParameterError(f"Expected at least one format, got none. Known: {', '.join(FORMATS)}.")
    if output.is_dir():
        output /= "report.html"
    said = report_contents(collection, title=title, drawn="html" in formats)
    writers = {"html": (output, page), "md": (output.with_suffix(".md"), _markdown)}
    writers |= {"tex": (output.with_suffix(".tex"), _latex)}
    files = {path: write(said) for name, (path, write) in writers.items() if name in formats}
    if "csv" in formats:
        files |= {output.with_name(f"{output.stem}-{table.id}.csv"): to_csv(table) for table in said.tables()}
    for path, text in files.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return list(files)


def _markdown(said: Contents) -> str:
    parts = [f"# {plain(said.title)}", *(f"**{plain(notice)}**" for notice in said.notices)]
    parts.append("\n".join(f"- {name}: {plain(value)}" for name, value in said.facts))
    for section in said.sections:
        told = [block for block in section.blocks if not isinstance(block, Picture | Absent)]
        parts += [f"## {plain(section.title)}"] if told else []
        for block in told:
            if isinstance(block, Table):
                parts.append(to_markdown(block).rstrip())
            elif isinstance(block, Listing):
                lines = "\n".join(f"- {plain(line)}" for line in block.lines)
                parts.append(f"<details><summary>{plain(block.summary)}</summary>\n\n{lines}\n\n</details>")
            else:
                parts.append(plain(block))
    return "\n\n".join(parts) + "\n"


def _latex(said: Contents) -> str:
    notices = [f"% {' '.join(notice.split())}" for notice in said.notices]
    parts = ["% Needs the packages booktabs, graphicx and amssymb.", *notices]
    for section in said.sections:
        tables = [block for block in section.blocks if isinstance(block, Table)]
        parts += [rf"\subsection*{{{escape(section.title)}}}"] if tables else []
        parts += [to_latex(table) for table in tables]
    return "\n\n".join(parts) + "\n"
