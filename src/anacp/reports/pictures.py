"""Which figures a report shows, drawn from its runs."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from anacp.reports.collect import Comparison
from anacp.reports.figures import (
    Cost,
    Style,
    accuracy_curves,
    accuracy_heat_maps,
    confused_bars,
    cost_against_accuracy,
    embedding_panels,
    forgetting_bars,
)
from anacp.reports.figures.picture import Absent, Picture, picture
from anacp.reports.settings import Setting
from anacp.reports.tables.results import caption_of

__all__ = ["Draw", "confusions", "costs", "curves", "embeddings", "forgetting", "matrices"]

Drawn = Picture | Absent
Looks = Mapping[str, Style]
LEARNING = ("adapt", "features", "learn", "solve")
MOST_CONFUSED = 12


class Draw(Protocol):
    """One kind of figure: everything that is to be seen of one setting."""

    def __call__(self, comparison: Comparison, setting: Setting, looks: Looks, *, identifier: str) -> Drawn:
        """Return the figure, or why there is none."""


def curves(comparison: Comparison, setting: Setting, looks: Looks, *, identifier: str) -> Drawn:
    """Draw accuracy over tasks, one line a method, with a band over the seeds."""
    found = {series.title: curve for series in comparison.of(setting) if (curve := series.curve()) is not None}
    longest = max((len(mean) for mean, _ in found.values()), default=0)
    found = {title: curve for title, curve in found.items() if len(curve[0]) == longest}
    if longest < 2:
        return Absent(identifier, f"{setting.label}: no accuracy over tasks, since no run has two tasks.")
    bounds = {s.title: known.mean for s in comparison.of(setting) if s.joint and (known := s.metric("A_last"))}
    several = any(len(series.runs) > 1 for series in comparison.of(setting))
    figure = accuracy_curves(
        {title: mean.tolist() for title, (mean, _) in found.items()},
        range(1, longest + 1),
        title=setting.label,
        deviations={title: deviation.tolist() for title, (_, deviation) in found.items()} if several else None,
        bounds=bounds,
        looks=looks,
        horizontal="tasks learned so far",
    )
    band = " Bands are one standard deviation over the seeds." if several else ""
    level = " Level lines are upper bounds, which learn all tasks at once." if bounds else ""
    text = f"Accuracy over tasks, {setting.label}: the mean over the tasks learned so far.{band}{level}"
    ends = ", ".join(f"{title} {mean[-1]:.1f} %" for title, (mean, _) in found.items())
    alt = f"Line chart of accuracy after each of {longest} tasks on {setting.label}. At the end: {ends}."
    return picture(figure, identifier=identifier, caption=caption_of(text, [setting]), alt=alt)


def matrices(comparison: Comparison, setting: Setting, looks: Looks, *, identifier: str) -> Drawn:
    """Draw the two accuracy matrices of one method, means over the seeds."""
    series = comparison.featured(setting)
    if series is None or series.joint:
        return Absent(identifier, f"{setting.label}: no accuracy matrix, since no method learned task after task.")
    kinds = (("class-incremental", False), ("task-incremental", True))
    found = {name: stacked for name, told in kinds if (stacked := series.matrices(task_incremental=told)) is not None}
    if not found:
        return Absent(
            identifier, f"{setting.label}: no accuracy matrix, since the runs of {series.title} differ in size."
        )
    means = {name: stacked.mean(0) for name, stacked in found.items()}
    text = (
        f"Accuracy matrices of {series.title}, {setting.label}, means over the seeds: row t is what is known of each "
        "task after learning task t. Class-incremental: chosen among all classes so far; task-incremental: among the "
        "classes of the task, where a falling column would be forgetting."
    )
    ends = ", ".join(f"{name} {np.nanmean(matrix[-1]):.1f} %" for name, matrix in means.items())
    alt = f"Heat maps of the accuracy matrices of {series.title} on {setting.label}. Mean of the last row: {ends}."
    return picture(
        accuracy_heat_maps({f"{series.title}, {name}": matrix for name, matrix in means.items()}),
        identifier=identifier,
        caption=caption_of(text, [setting]),
        alt=alt,
    )


def forgetting(comparison: Comparison, setting: Setting, looks: Looks, *, identifier: str) -> Drawn:
    """Draw forgetting and backward transfer, told the task."""
    panels: dict[str, dict[str, tuple[float, float]]] = {"forgetting": {}, "backward transfer": {}}
    for name, panel in panels.items():
        for series in comparison.of(setting):
            found = series.metric(f"task_incremental_{name.replace(' ', '_')}")
            if found is not None and not series.joint:
                panel[series.title] = (found.mean, found.deviation)
    if not panels["forgetting"]:
        return Absent(identifier, f"{setting.label}: no forgetting, since no run measured it.")
    text = (
        f"Task-incremental forgetting (less is better) and backward transfer (more is better), {setting.label}; "
        "whiskers are one standard deviation over the seeds."
    )
    values = ", ".join(f"{title} {value:.2f}" for title, (value, _) in panels["forgetting"].items())
    alt = f"Bar charts of forgetting and backward transfer on {setting.label}. Forgetting: {values}."
    figure = forgetting_bars(panels, looks)
    return picture(figure, identifier=identifier, caption=caption_of(text, [setting]), alt=alt)


def embeddings(comparison: Comparison, setting: Setting, looks: Looks, *, identifier: str) -> Drawn:
    """Draw the features before and after the projection, of the first run that kept them."""
    featured = comparison.featured(setting)
    candidates = [featured, *comparison.of(setting)] if featured else comparison.of(setting)
    for series in candidates:
        for run in series.runs:
            if run.embedding and run.embedding.get("stages"):
                n = len(run.embedding["classes"])
                text = (
                    f"t-SNE of {series.title}’s features, {setting.label}, {n} classes, seed {run.seed}, as in the "
                    "paper’s Figure 1. t-SNE keeps neighbours, not distances: read the clusters, not their places."
                )
                alt = f"Scatter plots of the features of {n} classes at {len(run.embedding['stages'])} stages."
                figure = embedding_panels(run.embedding)
                return picture(figure, identifier=identifier, caption=caption_of(text, [setting]), alt=alt)
    return Absent(identifier, f"{setting.label}: no picture of the features, since no run has an embedding.json.")


def costs(comparison: Comparison, setting: Setting, looks: Looks, *, identifier: str) -> Drawn:
    """Draw accuracy over the time that learning took."""
    found = [
        Cost(series.title, series.seconds(*LEARNING), known.mean, series.state_bytes)
        for series in comparison.of(setting)
        if (known := series.metric("A_last")) and series.seconds(*LEARNING) > 0
    ]
    if not found:
        return Absent(identifier, f"{setting.label}: no cost against accuracy, since no run has times.")
    text = (
        f"Cost against accuracy, {setting.label}: seconds to adapt, extract features, learn and solve (log axis), "
        "of the quickest seed; the area of a marker grows with the size of the model."
    )
    values = ", ".join(f"{cost.title} {cost.seconds:.3g} s, {cost.accuracy:.1f} %" for cost in found)
    alt = f"Scatter plot of accuracy over seconds on {setting.label}: {values}."
    figure = cost_against_accuracy(found, looks, title=setting.label)
    return picture(figure, identifier=identifier, caption=caption_of(text, [setting]), alt=alt)


def confusions(comparison: Comparison, setting: Setting, looks: Looks, *, identifier: str) -> Drawn:
    """Draw the pairs of classes that are confused most, of the first seed."""
    series = comparison.featured(setting)
    run = series.runs[0] if series else None
    if series is None or run is None or not run.confused:
        return Absent(identifier, f"{setting.label}: no confused pairs, since none were recorded.")
    pairs = [(str(pair.true), str(pair.predicted), pair.count, pair.n) for pair in run.confused[:MOST_CONFUSED]]
    text = f"What {series.title} confuses most at the end, {setting.label}, seed {run.seed}: class → taken for."
    listed = ", ".join(f"{true} taken for {predicted} {count} of {n} times" for true, predicted, count, n in pairs[:3])
    alt = f"Bar chart of the {len(pairs)} worst pairs of classes on {setting.label}: {listed}."
    figure = confused_bars(pairs, title=f"{series.title}, {setting.label}")
    return picture(figure, identifier=identifier, caption=caption_of(text, [setting]), alt=alt)
