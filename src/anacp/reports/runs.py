"""Which runs a report is made from, and why others were left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anacp.errors import DataFileError, MissingDataError
from anacp.experiments.results import RunResult, read_run, read_steps

__all__ = ["LeftOut", "read_runs"]


@dataclass(frozen=True)
class LeftOut:
    """A folder that is no part of the report, and the reason."""

    folder: Path
    reason: str


def read_runs(paths: Iterable[Path]) -> tuple[list[RunResult], list[LeftOut]]:
    """Return every finished run in and below these folders, and what was found there but left out.

    A damaged run costs the report that run, not everything.
    """
    given = [Path(path) for path in paths]
    for path in given:
        if not path.is_dir():
            raise MissingDataError(f"Expected a folder of runs, got {path}, which is not a folder. Check the path.")
    found = {file.parent.resolve(): file.parent for path in given for file in _files(path)}
    runs: list[RunResult] = []
    left_out: list[LeftOut] = []
    for folder in found.values():
        entry = _read(folder)
        if isinstance(entry, RunResult):
            runs.append(entry)
        elif entry is not None:
            left_out.append(entry)
    if not runs:
        reasons = "".join(f"\n  {entry.folder}: {entry.reason}" for entry in left_out)
        raise MissingDataError(
            f"Expected finished runs (folders with a results.json) in {', '.join(map(str, given)) or 'a folder'}, "
            f"got none. Make some with `anacp run`, then report on their folder.{reasons}"
        )
    return runs, left_out


def _files(path: Path) -> list[Path]:
    return sorted(file for name in ("results.json", "spec.toml") for file in path.rglob(name))


def _read(folder: Path) -> RunResult | LeftOut | None:
    if not (folder / "results.json").is_file():
        done = len(read_steps(folder))
        return LeftOut(folder, f"unfinished, {done} tasks done; `anacp run` on its spec.toml goes on")
    try:
        return read_run(folder, skip_foreign=True)  # other commands also write a results.json
    except DataFileError as problem:
        return LeftOut(folder, str(problem))
