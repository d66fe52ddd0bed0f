"""Runs put together: the seeds of one title in one setting become a series, the series of a table a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anacp.experiments.results import RunResult, quickest
from anacp.reports import paper
from anacp.reports.runs import LeftOut, read_runs
from anacp.reports.settings import Setting, settings_of

__all__ = ["Collection", "Comparison", "Series", "Statistic", "collect", "statistic"]

UNADAPTED = "without FSA"  # the row of the ablation that the paper does not have
METHOD = "AnaCP"  # the method that the paper proposes
UNRANKED = "AnaCP - Σ_y"  # printed by the paper as an ablation, outside the ranking
STAGES = ("adapt", "features", "learn", "solve", "predict")


@dataclass(frozen=True)
class Statistic:
    """A mean over seeds with its standard deviation (of the seeds themselves, not an estimate of a larger number)."""

    mean: float
    deviation: float
    n: int


def statistic(values: Iterable[float | None]) -> Statistic | None:
    """Return mean and standard deviation of what is there; None where nothing is."""
    present = [value for value in values if value is not None]
    return Statistic(float(np.mean(present)), float(np.std(present)), len(present)) if present else None


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
    def paper_row(self) -> str | None:
        """The row of the paper's tables that this one repeats."""
        return paper.row_name(str(self.runs[0].specification.get("row") or self.runs[0].title))

    @property
    def ranked(self) -> bool:
        """Whether it competes for the best number of a column."""
        return not self.joint and self.paper_row != UNRANKED

    def metric(self, name: str) -> Statistic | None:
        """Return a metric over the seeds."""
        return statistic(run.metrics.get(name) for run in self.runs)

    def seconds(self, *stages: str) -> float:
        """Return the time that these stages took together in the quickest run."""
        measured = quickest(self.runs).seconds
        return float(sum(measured.get(stage, 0) for stage in stages))

    @property
    def state_bytes(self) -> float:
        """The size of the model, a mean over the seeds."""
        return float(np.mean([run.state_bytes for run in self.runs]))

    @property
    def peak_memory_bytes(self) -> float:
        """The most memory that a run held, a mean over the seeds."""
        return float(np.mean([run.peak_memory_bytes for run in self.runs]))

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

    table: str | None
    settings: tuple[Setting, ...]
    titles: tuple[str, ...]  # upper bounds first, the paper's own method last
    series: Mapping[tuple[str, Setting], Series]

    def of(self, setting: Setting) -> list[Series]:
        """Return the series of a setting, in the order of the rows."""
        return [self.series[title, setting] for title in self.titles if (title, setting) in self.series]

    def any_of(self, title: str) -> Series:
        """Return one series of a row, whatever the setting."""
        return next(series for (name, _), series in self.series.items() if name == title)

    def featured(self, setting: Setting) -> Series | None:
        """Return the series that is shown where there is room for one: AnaCP, else the most accurate."""
        ranked = [series for series in self.of(setting) if series.ranked] or self.of(setting)
        known = [series for series in ranked if series.paper_row == METHOD]
        scored = [(found.mean, series) for series in ranked if (found := series.metric("A_last"))]
        best = max(scored, key=lambda pair: pair[0])[1] if scored else None
        return known[0] if known else best


@dataclass(frozen=True)
class Collection:
    """Everything that a report is made from."""

    runs: tuple[RunResult, ...]
    left_out: tuple[LeftOut, ...]
    comparisons: tuple[Comparison, ...]

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Every row there is outside the ablation, so that each keeps one colour."""
        shown = [title for each in self.comparisons if each.table != "ablation" for title in each.titles]
        return tuple(dict.fromkeys(shown))

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting there is."""
        return tuple(dict.fromkeys(setting for each in self.comparisons for setting in each.settings))

    @property
    def substitutes(self) -> list[str]:
        """One plain label for each setting that stands in for another."""
        labels = {setting: label for setting in self.settings if (label := setting.label_of_substitute)}
        return list(dict.fromkeys(f"{label} {setting.note}".strip() for setting, label in labels.items()))


def collect(paths: Iterable[Path]) -> Collection:
    """Read the runs in and below these folders and put them together."""
    runs, left_out = read_runs(paths)
    settings = settings_of(runs)
    by_table: dict[str | None, list[RunResult]] = {}
    for run in runs:
        by_table.setdefault(_table(run), []).append(run)
    order = ("table1", "table2", None, "ablation")
    kept: list[Comparison] = []
    for table in sorted(by_table, key=order.index):
        comparison, repeated = _comparison(table, by_table[table], settings)
        kept.append(comparison)
        left_out += repeated
    shown = {run.folder for each in kept for series in each.series.values() for run in series.runs}
    return Collection(tuple(run for run in runs if run.folder in shown), tuple(left_out), tuple(kept))


def _table(run: RunResult) -> str | None:
    """Return which table of the paper a run belongs to: as specified, as its title or what it stands for say."""
    stated = run.specification.get("table")
    if stated in ("table1", "table2", "ablation"):
        return str(stated)
    if paper.ablation_row(run.title) or run.title == UNADAPTED:
        return "ablation"
    stands_for = run.substitute["for"] if run.substitute else ""
    return next((table for table in ("table1", "table2") if f"Table {table[-1]}" in stands_for), None)


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
    titles = sorted(first, key=lambda title: _row_order(first[title], table))
    found_settings = tuple(dict.fromkeys(setting for _, setting in series))
    return Comparison(table, found_settings, tuple(titles), series), left_out


def _distinct_titles(runs: Sequence[RunResult], settings: Mapping[Path, Setting]) -> dict[Path, str]:
    """Name the adaptation where a title was run in one setting both with and without it."""
    adaptations: dict[tuple[str, Setting], set[str | None]] = {}
    for run in runs:
        adaptations.setdefault((run.title, settings[run.folder]), set()).add(run.adaptation)
    ambiguous = {title for (title, _), found in adaptations.items() if len(found) > 1}
    return {
        run.folder: f"{run.title} + {run.adaptation}" if run.title in ambiguous and run.adaptation else run.title
        for run in runs
    }


def _row_order(series: Series, table: str | None) -> tuple[int, int, str]:
    if table == "ablation":
        return (0, int(series.title), "") if series.title.isdigit() else (1, 0, series.title)
    row = series.paper_row
    place = paper.place_of(row)
    return (0 if series.joint else 2 if row in (METHOD, UNRANKED) else 1), place, series.title
