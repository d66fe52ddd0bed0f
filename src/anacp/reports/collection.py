"""Runs put together: the seeds of one title in one setting become a series, the series of a table a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anacp.experiments import LeftOut, RunResult, load_runs, quickest
from anacp.paper import METHOD, TABLES, UNRANKED, PaperTable
from anacp.reports.settings import Setting, settings_of

STAGES = ("adapt", "features", "learn", "solve", "predict")


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with its standard deviation (of the seeds themselves, not an estimate of a larger number)."""

    value: float
    deviation: float
    n: int


def mean_of(values: Iterable[float | None]) -> Mean | None:
    """Return mean and standard deviation of what is there; None where nothing is."""
    present = [value for value in values if value is not None]
    return Mean(float(np.mean(present)), float(np.std(present)), len(present)) if present else None


@dataclass(frozen=True)
class Series:
    """The runs of one title in one setting, one for each seed."""

    title: str
    setting: Setting
    runs: tuple[RunResult, ...]

    @property
    def joint(self) -> bool:
        """Whether this is an upper bound."""
        return self.runs[0].joint

    @property
    def row(self) -> str | None:
        """The row of the paper's table that this one stands for."""
        return self.runs[0].paper.row if self.runs[0].paper else None

    @property
    def proposed(self) -> bool:
        """Whether this is the method that the paper proposes, as it is."""
        return (self.row or self.runs[0].method) == METHOD

    @property
    def ranked(self) -> bool:
        """Whether it competes for the best number of a column."""
        return not self.joint and self.row != UNRANKED

    def metric(self, name: str) -> Mean | None:
        """Return a metric over the seeds."""
        return mean_of(run.metrics.get(name) for run in self.runs)

    def seconds(self, *stages: str) -> float:
        """Return the time that these stages took together in the quickest run."""
        measured = quickest(self.runs).seconds
        return float(sum(measured.get(stage, 0) for stage in stages))

    def mean_bytes(self, kind: str) -> float:
        """Return "state_bytes", the size of the model, or "peak_memory_bytes", a mean over the seeds."""
        return float(np.mean([getattr(run, kind) for run in self.runs]))

    def matrices(self, *, task_incremental: bool) -> NDArray[np.float64] | None:
        """Return the accuracy matrices of all seeds; None where they are missing or differ in size."""  # (s, T, T)
        found = [run.task_incremental if task_incremental else run.class_incremental for run in self.runs]
        alike = len({matrix.shape for matrix in found}) == 1 and found[0].size
        return np.stack(found) if alike else None

    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the mean accuracy over the tasks seen so far after each task, and its deviation over the seeds."""
        stacked = self.matrices(task_incremental=False)
        if stacked is None or self.joint:
            return None
        curves = np.nanmean(stacked, axis=2)  # (s, T)
        return curves.mean(0), curves.std(0)


@dataclass(frozen=True)
class Comparison:
    """Series that belong in one table."""

    paper: PaperTable | None  # the table that it stands for; None for a plain comparison
    settings: tuple[Setting, ...]
    titles: tuple[str, ...]  # in the paper's order, else upper bounds first and AnaCP last
    series: Mapping[tuple[str, Setting], Series]

    @property
    def ablation(self) -> bool:
        """Whether rows are variants of one method."""
        return self.paper is not None and self.paper.name == "ablation"

    def of(self, setting: Setting) -> list[Series]:
        """Return the series of a setting, in the order of the rows."""
        return [self.series[title, setting] for title in self.titles if (title, setting) in self.series]

    def any_of(self, title: str) -> Series:
        """Return one series of a row, whatever the setting."""
        return next(series for (name, _), series in self.series.items() if name == title)

    def featured(self, setting: Setting) -> Series | None:
        """Return the series that is shown where there is room for one: AnaCP, else the most accurate."""
        ranked = [series for series in self.of(setting) if series.ranked] or self.of(setting)
        known = [series for series in ranked if series.proposed]
        scored = [(found.value, series) for series in ranked if (found := series.metric("A_last"))]
        best = max(scored, key=lambda pair: pair[0])[1] if scored else None
        return known[0] if known else best


@dataclass(frozen=True)
class Collection:
    """Everything that a report is made from."""

    runs: tuple[RunResult, ...]
    left_out: tuple[LeftOut, ...]
    comparisons: tuple[Comparison, ...]

    @cached_property
    def looks(self) -> Mapping[str, str]:
        """By which name every row outside the ablation is drawn: the paper's, or its own beside another of that row."""
        rows = {
            title: each.any_of(title).row for each in self.comparisons if not each.ablation for title in each.titles
        }
        taken: dict[str, str] = {}
        for title, row in rows.items():
            if row is not None and (title == row or row not in rows):
                taken.setdefault(row, title)
        return {title: row if row and taken.get(row) == title else title for title, row in rows.items()}

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting there is."""
        return tuple(dict.fromkeys(setting for each in self.comparisons for setting in each.settings))

    @property
    def substitutes(self) -> list[str]:
        """One plain label for each setting that stands in for another."""
        labels = {setting: label for setting in self.settings if (label := setting.label_of_substitute)}
        return list(dict.fromkeys(f"{label} {setting.note}".strip() for setting, label in labels.items()))


def collect(paths: str | Path | Iterable[str | Path]) -> Collection:
    """Read the runs in and below these folders and put them together."""
    left_out: list[LeftOut] = []
    runs = load_runs(paths, left_out=left_out)
    settings = settings_of(runs)
    by_table: dict[str | None, list[RunResult]] = {}
    for run in runs:
        by_table.setdefault(run.paper.table if run.paper else None, []).append(run)
    order = [*(name for name in TABLES if name != "ablation"), None, "ablation"]
    kept: list[Comparison] = []
    for table in sorted(by_table, key=order.index):
        comparison, repeated = _comparison(table, by_table[table], settings)
        kept.append(comparison)
        left_out += repeated
    shown = {run.folder for each in kept for series in each.series.values() for run in series.runs}
    return Collection(tuple(run for run in runs if run.folder in shown), tuple(left_out), tuple(kept))


def _comparison(
    table: str | None, runs: Sequence[RunResult], settings: Mapping[Path, Setting]
) -> tuple[Comparison, list[LeftOut]]:
    groups: dict[tuple[str, Setting], dict[tuple[int, int], RunResult]] = {}
    left_out: list[LeftOut] = []
    names = _distinct_titles(runs, settings)
    for run in runs:
        seeds = groups.setdefault((names[run.folder], settings[run.folder]), {})
        drawn = (run.seed, run.protocol.get("order_seed", run.seed))
        if drawn in seeds:
            reason = f"the same title, setting and seed as {seeds[drawn].folder}; give one of them another title"
            left_out.append(LeftOut(run.folder, reason))
        else:
            seeds[drawn] = run
    series = {
        (title, setting): Series(title, setting, tuple(seeds[seed] for seed in sorted(seeds)))
        for (title, setting), seeds in groups.items()
    }
    first = {title: found for (title, _), found in reversed(series.items())}
    titles = sorted(first, key=lambda title: _row_order(first[title]))
    found_settings = tuple(dict.fromkeys(setting for _, setting in series))
    return Comparison(TABLES[table] if table else None, found_settings, tuple(titles), series), left_out


def _distinct_titles(runs: Sequence[RunResult], settings: Mapping[Path, Setting]) -> dict[Path, str]:
    """Name, where runs of one title in one setting differ in more than the seed, what they differ in."""
    groups: dict[tuple[str, Setting], list[dict[str, str]]] = {}
    for run in runs:
        groups.setdefault((run.title, settings[run.folder]), []).append(_facts(run))
    differing: dict[str, set[str]] = {}
    for (title, _), facts in groups.items():
        keys = {key for fact in facts for key in fact}
        differing.setdefault(title, set()).update(key for key in keys if len({fact.get(key) for fact in facts}) > 1)
    for title, keys in differing.items():  # a line of a table is one row, whatever the setting
        rows = {run.paper.row for run in runs if run.title == title and run.paper}
        keys |= {"row"} if len(rows) > 1 else set()
    return {run.folder: _distinct_title(run, differing[run.title]) for run in runs}


def _facts(run: RunResult) -> dict[str, str]:
    """Return what decides a run's numbers beside its setting and seed."""
    facts = {"adaptation": run.adaptation, "row": run.paper.row if run.paper else None, "joint": run.joint}
    return {name: str(value or "") for name, value in facts.items()} | {
        name: str(value) for name, value in run.parameters.items()
    }


def _distinct_title(run: RunResult, differing: set[str]) -> str:
    facts = {key: value for key, value in _facts(run).items() if key in differing and value}
    adapted = f" + {facts.pop('adaptation')}" if "adaptation" in facts else ""
    joint = ["joint"] if facts.pop("joint", "") else []
    named = ", ".join([*joint, *(f"{key} {facts[key]}" for key in sorted(facts))])
    return f"{run.title}{adapted}{f' ({named})' if named else ''}"


def _row_order(series: Series) -> tuple[int, int, str]:
    cell = series.runs[0].paper
    return (cell.place, 0, series.title) if cell else (not series.joint, series.proposed, series.title)
