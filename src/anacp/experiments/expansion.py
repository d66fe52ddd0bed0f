"""From one file to its runs: every data set × every method × every seed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anacp.errors import MissingDataError, ParameterError
from anacp.experiments.specification import METHOD_KEYS, RUN_KEYS, Specification
from anacp.experiments.toml import Kind, check_table
from anacp.files import read_toml

AXES = ("dataset", "method", "seed")
ONE_OR_MORE: dict[str, Kind] = {"dataset": (str, dict, list), "method": (str, dict, list), "seed": (int, list)}
DATASET_KEYS: dict[str, Kind] = {"name": (str,), "scenario": (dict,)} | RUN_KEYS


def specifications(path: str | Path) -> list[Specification]:
    """Return the runs that a TOML file asks for, data set by data set, method by method, seed by seed.

    Raises
    ------
    ParameterError
        For a key that is unknown or a value of the wrong kind; the message says where, and what was meant.
    """
    path = Path(path)
    try:
        return expand(read_toml(path))
    except FileNotFoundError as problem:
        raise MissingDataError(
            f"Expected the specification of an experiment at {path}, got no file there."
        ) from problem
    except ParameterError as problem:
        raise ParameterError(f"{path}: {problem}") from problem


def expand(table: Mapping[str, Any]) -> list[Specification]:
    """Return the runs that a table asks for.

    `dataset`, `method` and `seed` (or their plurals) take one or a list. A data set or a method may be a table of its
    own, whose settings then hold for its runs; a method's come before a data set's, and those before the file's.
    """
    kinds = RUN_KEYS | {"order_seed": (int,), "scenario": (dict,)}
    for axis in AXES:
        kinds |= {axis: ONE_OR_MORE[axis], f"{axis}s": ONE_OR_MORE[axis]}
    shared = check_table(table, kinds)
    datasets, methods, seeds = (_axis(shared, axis) for axis in AXES)
    datasets = [_entry(entry, DATASET_KEYS, f"[[dataset]] {n}") for n, entry in enumerate(datasets, 1)]
    methods = [_entry(entry, METHOD_KEYS | RUN_KEYS, f"[[method]] {n}") for n, entry in enumerate(methods, 1)]
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ParameterError(f"seed: expected a whole number, got {seed!r}.")
    return [_one(shared, dataset, method, seed) for dataset in datasets for method in methods for seed in seeds]


def _axis(shared: dict[str, Any], axis: str) -> list[Any]:
    """Take an axis out of the table, as a list."""
    given = [shared.pop(key) for key in (axis, f"{axis}s") if key in shared]
    if len(given) > 1:
        raise ParameterError(f"{axis}: expected `{axis}` or `{axis}s`, got both. Leave one out.")
    if not given and axis != "seed":
        raise ParameterError(f"{axis}: expected one or several, got none.")
    values = given[0] if given else 0
    if isinstance(values, list) and not values:
        raise ParameterError(f"{axis}: expected one or several, got an empty list.")
    return values if isinstance(values, list) else [values]


def _entry(entry: object, kinds: Mapping[str, Kind], place: str) -> dict[str, Any]:
    return {"name": entry} if isinstance(entry, str) else check_table(entry, kinds, place, needed=("name",))


def _one(shared: Mapping[str, Any], dataset: dict[str, Any], method: dict[str, Any], seed: int) -> Specification:
    own = {key: value for key, value in method.items() if key in RUN_KEYS}
    name = {key: value for key, value in method.items() if key in METHOD_KEYS}
    of_dataset = {key: value for key, value in dataset.items() if key != "name"}
    stated = {**shared, **of_dataset, **own, "dataset": dataset["name"], "method": name, "seed": seed}
    cell = [table["paper"] for table in (shared, of_dataset, own) if "paper" in table]
    if cell:  # the file may state the table, a data set its column and a method its row
        stated["paper"] = {key: value for part in cell for key, value in part.items()}
    return Specification.from_dict(stated)
