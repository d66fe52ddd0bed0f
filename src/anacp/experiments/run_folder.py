"""The folder of a run: locked while it is written, and never in a state that cannot be resumed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from anacp.errors import AnacpError, MismatchError
from anacp.experiments.results import (
    EMBEDDING,
    ENVIRONMENT,
    MODEL,
    RESULTS,
    SPECIFICATION,
    STEPS,
    RunResult,
    Step,
    read_run,
    read_steps,
)
from anacp.experiments.specification import Specification
from anacp.files import locked, read_json, read_toml, replacing, sweep_leftovers

CHECKPOINTS = "checkpoint-*.anacp"
M = TypeVar("M")


class RunFolder:
    """Files of one run. Everything is written whole; the results come last, so that their presence means the end."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out; the system lifts the lock when this one ends, however it ends."""
        with locked(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            sweep_leftovers(self.path)
            yield

    def changed(self, specification: Specification, dataset: str, *, refuse: bool) -> bool:
        """Return whether the folder holds a run of another specification, or refuse it."""
        changes = self._changes(specification, dataset)
        if changes and refuse:
            raise MismatchError(
                f"Expected {self.path} to hold a run of this specification, got another: {'; '.join(changes)}. "
                "Choose another folder, or start over (--fresh)."
            )
        return bool(changes)

    def claim(self, specification: Specification, dataset: str, *, restart: bool = False) -> None:
        """Make the folder this run's; one that holds another run is refused, or cleared with `restart`."""
        if self.changed(specification, dataset, refuse=not restart):
            self.clear()
        if not (self.path / SPECIFICATION).exists():
            self._write(SPECIFICATION, specification.to_toml())

    def finished(self) -> RunResult | None:
        """Return the results, if the run has ended; a kill right after that may have left a checkpoint."""
        if not (self.path / RESULTS).exists():
            return None
        self.remove_checkpoints()
        return read_run(self.path)

    def clear(self) -> None:
        """Remove what a run left, and nothing else."""
        for name in (RESULTS, STEPS, ENVIRONMENT, EMBEDDING, MODEL, SPECIFICATION):  # the results first
            (self.path / name).unlink(missing_ok=True)
        self.remove_checkpoints()

    def resume(self, load: Callable[[Path], M]) -> tuple[M | None, list[Step]]:
        """Return the method of the last checkpoint and the steps up to it; later steps are dropped from the file."""
        steps = read_steps(self.path)
        for path in sorted(self.path.glob(CHECKPOINTS), reverse=True):
            done = int(path.stem.rpartition("-")[2])
            if done <= len(steps):
                with contextlib.suppress(AnacpError):  # damaged: an older one will do
                    method = load(path)
                    self._keep(steps[:done])
                    return method, steps[:done]
        self._keep([])
        return None, []

    def append(self, step: Step) -> None:
        """Add a line; a line that a crash tears is dropped by `resume`."""
        with (self.path / STEPS).open("ab") as file:
            file.write(_line(step))
            file.flush()
            os.fsync(file.fileno())

    def checkpoint(self, save: Callable[[Path], None], done: int) -> None:
        """Keep the method after `done` tasks, and none of its older states."""
        path = self.path / f"checkpoint-{done:05d}.anacp"
        save(path)
        self.remove_checkpoints(but=path)

    def remove_checkpoints(self, but: Path | None = None) -> None:
        """Remove states that are no longer needed."""
        for path in self.path.glob(CHECKPOINTS):
            if path != but:
                path.unlink(missing_ok=True)

    def write_json(self, name: str, contents: Mapping[str, Any]) -> None:
        """Write one of the folder's files."""
        self._write(name, json.dumps(contents, indent=1, allow_nan=False, ensure_ascii=False) + "\n")

    def _write(self, name: str, text: str) -> None:
        with replacing(self.path / name) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def _keep(self, steps: list[Step]) -> None:
        with replacing(self.path / STEPS) as temporary:
            temporary.write_bytes(b"".join(map(_line, steps)))

    def _changes(self, specification: Specification, dataset: str) -> list[str]:
        path = self.path / SPECIFICATION
        if not path.exists():
            return []
        there, here = _flat(read_toml(path)), _flat(specification.as_dict())
        keys = [key for key in sorted(there.keys() | here.keys()) if there.get(key) != here.get(key)]
        changes = [f"{key} is {_shown(there, key)} there and {_shown(here, key)} here" for key in keys]
        with contextlib.suppress(OSError, ValueError):
            if read_json(self.path / ENVIRONMENT)["dataset"] != dataset:
                changes.append("the contents of the data set are others")
        return changes


def _line(step: Step) -> bytes:
    return json.dumps(asdict(step), allow_nan=False, ensure_ascii=False).encode() + b"\n"


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat


def _shown(flat: Mapping[str, Any], key: str) -> str:
    return repr(flat[key]) if key in flat else "not set"
