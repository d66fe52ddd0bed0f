"""Runs that are equal but for what they are called: computed once, then told again under the other name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from anacp.experiments.results import EMBEDDING, ENVIRONMENT, MODEL, RESULTS, STEPS, RunResult
from anacp.experiments.run_folder import RunFolder
from anacp.experiments.specification import Specification
from anacp.files import read_json, replacing

CALLED = ("title", "paper", "quick", "substitute")  # words about a run, which decide none of its numbers
EXTRAS = {"keep_model": MODEL, "embedding": EMBEDDING}  # files that one run may leave and the other not


def substance(specification: Specification) -> str:
    """Return what decides a run's numbers, as text; runs with the same are twins."""
    apart = {*CALLED, *EXTRAS}
    stated = {one.name: getattr(specification, one.name) for one in fields(specification) if one.name not in apart}
    return json.dumps(stated | {"scenario": specification.scenario.as_dict()}, sort_keys=True, default=dict)


def finished_twins(results: Iterable[RunResult]) -> dict[str, Path]:
    """Return the folders of finished runs, by their substance."""
    return {substance(Specification.from_dict(run.specification)): run.folder for run in results}


def tell_again(specification: Specification, twin: Path, place: RunFolder, dataset: str) -> bool:
    """Fill the folder of a run from that of its finished twin; False where that has not all that is needed.

    The caller holds the lock of the folder and has claimed it. Seconds and memory are the twin's.
    """
    wanted = [file for asked, file in EXTRAS.items() if getattr(specification, asked)]
    if any(not (twin / file).is_file() for file in (*wanted, RESULTS, STEPS, ENVIRONMENT)):
        return False
    if read_json(twin / ENVIRONMENT).get("dataset") != dataset:  # data of the same name, with other contents
        return False
    for file in (*wanted, STEPS, ENVIRONMENT):
        with replacing(place.path / file) as temporary:
            shutil.copyfile(twin / file, temporary)
    place.write_json(RESULTS, _called(read_json(twin / RESULTS), specification))
    return True


def _called(results: Mapping[str, Any], specification: Specification) -> dict[str, Any]:
    stated = specification.as_dict()
    words = {
        "title": specification.title,
        "paper": stated.get("paper"),
        "quick": specification.quick,
        "substitute": stated.get("substitute"),
    }
    return {**results, **words, "specification": stated}
