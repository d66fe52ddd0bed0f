"""Which figures a report shows: drawn from its runs, named and described."""

import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anacp.reports.collection import Comparison
from anacp.reports.figures.accuracies import Cost, accuracy_curves, cost_against_accuracy
from anacp.reports.figures.bars import confused_bars, forgetting_bars
from anacp.reports.figures.embedding import embedding_panels
from anacp.reports.figures.heat_maps import accuracy_heat_maps
from anacp.reports.figures.style import Style
from anacp.reports.settings import Setting, caption_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Looks = Mapping[str, Style]
Sketch = tuple["Figure", str, str] | str  # a figure, its caption and what it shows in words; or why there is none
Draw = Callable[[Comparison, Setting, Looks], Sketch]
LEARNING = ("adapt", "features", "learn", "solve")
MOST_CONFUSED = 12


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    id: str
    caption: str
    alt: str
    svg: bytes


@dataclass(frozen=True)
class Absent:
    """A figure that could not be drawn, and why."""

    id: str
    reason: str


def picture(draw: Draw, comparison: Comparison, setting: Setting, looks: Looks, identifier: str) -> Picture | Absent:
    """Draw everything that one kind of figure shows of one setting, or say why there is none."""
    sketch = draw(comparison, setting, looks)
    if isinstance(sketch, str):
        return Absent(identifier, f"{setting.label}: {sketch}")
    figure, text, alt = sketch
    return Picture(identifier, caption_of(text, [setting]), alt, _svg(figure, identifier))


def _svg(figure: "Figure", identifier: str) -> bytes:
    """Return the same bytes for the same figure; letters are shapes, so that no font is needed."""
    import matplotlib
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a class may be called $x_{$
    written = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": identifier, "svg.fonttype": "path"}), warnings.catch_warnings():
        # Names in scripts that the font lacks show as boxes; the tables have them in full.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()


def draw_curves(comparison: Comparison, setting: Setting, looks: Looks) -> Sketch:
    """Draw accuracy over tasks, one line a method, with a band over the seeds."""
    found = {series.title: curve for series in comparison.of(setting) if (curve := series.curve()) is not None}
    longest = max((len(mean) for mean, _ in found.values()), default=0)
    found = {title: curve for title, curve in found.items() if len(curve[0]) == longest}
    if longest < 2:
        return "no accuracy over tasks, since no run has two tasks."
    bounds = {s.title: known.value for s in comparison.of(setting) if s.joint and (known := s.metric("A_last"))}
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
    return figure, text, f"Line chart of accuracy after each of {longest} tasks on {setting.label}. At the end: {ends}."


def draw_matrices(comparison: Comparison, setting: Setting, looks: Looks) -> Sketch:
    """Draw the two accuracy matrices of one method, means over the seeds."""
    series = comparison.featured(setting)
    if series is None or series.joint:
        return "no accuracy matrix, since no method learned task after task."
    kinds = (("class-incremental", False), ("task-incremental", True))
    found = {name: stacked for name, told in kinds if (stacked := series.matrices(task_incremental=told)) is not None}
    if not found:
        return f"no accuracy matrix, since the runs of {series.title} differ in size."
    means = {name: stacked.mean(0) for name, stacked in found.items()}
    text = (
        f"Accuracy matrices of {series.title}, {setting.label}, means over the seeds: row t is what is known of each "
        "task after learning task t. Class-incremental: chosen among all classes so far; task-incremental: among the "
        "classes of the task, where a falling column would be forgetting."
    )
    ends = ", ".join(f"{name} {np.nanmean(matrix[-1]):.1f} %" for name, matrix in means.items())
    alt = f"Heat maps of the accuracy matrices of {series.title} on {setting.label}. Mean of the last row: {ends}."
    return accuracy_heat_maps({f"{series.title}, {name}": matrix for name, matrix in means.items()}), text, alt


def draw_forgetting(comparison: Comparison, setting: Setting, looks: Looks) -> Sketch:
    """Draw forgetting and backward transfer, told the task."""
    panels: dict[str, dict[str, tuple[float, float]]] = {"forgetting": {}, "backward transfer": {}}
    for name, panel in panels.items():
        for series in comparison.of(setting):
            found = series.metric(f"task_incremental_{name.replace(' ', '_')}")
            if found is not None and not series.joint:
                panel[series.title] = (found.value, found.deviation)
    if not panels["forgetting"]:
        return "no forgetting, since no run measured it."
    text = (
        f"Task-incremental forgetting (less is better) and backward transfer (more is better), {setting.label}; "
        "whiskers are one standard deviation over the seeds."
    )
    values = ", ".join(f"{title} {value:.2f}" for title, (value, _) in panels["forgetting"].items())
    alt = f"Bar charts of forgetting and backward transfer on {setting.label}. Forgetting: {values}."
    return forgetting_bars(panels, looks), text, alt


def draw_embeddings(comparison: Comparison, setting: Setting, looks: Looks) -> Sketch:
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
                return embedding_panels(run.embedding), text, alt
    return "no picture of the features, since no run has an embedding.json."


def draw_costs(comparison: Comparison, setting: Setting, looks: Looks) -> Sketch:
    """Draw accuracy over the time that learning took."""
    found = [
        Cost(series.title, series.seconds(*LEARNING), known.value, series.mean_bytes("state_bytes"))
        for series in comparison.of(setting)
        if (known := series.metric("A_last")) and series.seconds(*LEARNING) > 0
    ]
    if not found:
        return "no cost against accuracy, since no run has times."
    text = (
        f"Cost against accuracy, {setting.label}: seconds to adapt, extract features, learn and solve (log axis), "
        "of the quickest seed; the area of a marker grows with the size of the model."
    )
    values = ", ".join(f"{cost.title} {cost.seconds:.3g} s, {cost.accuracy:.1f} %" for cost in found)
    alt = f"Scatter plot of accuracy over seconds on {setting.label}: {values}."
    return cost_against_accuracy(found, looks, title=setting.label), text, alt


def draw_confusions(comparison: Comparison, setting: Setting, looks: Looks) -> Sketch:
    """Draw the pairs of classes that are confused most, of the first seed."""
    series = comparison.featured(setting)
    run = series.runs[0] if series else None
    if series is None or run is None or not run.confused:
        return "no confused pairs, since none were recorded."
    pairs = [(str(pair.true), str(pair.predicted), pair.count, pair.n) for pair in run.confused[:MOST_CONFUSED]]
    text = f"What {series.title} confuses most at the end, {setting.label}, seed {run.seed}: class → taken for."
    listed = ", ".join(f"{true} taken for {predicted} {count} of {n} times" for true, predicted, count, n in pairs[:3])
    alt = f"Bar chart of the {len(pairs)} worst pairs of classes on {setting.label}: {listed}."
    return confused_bars(pairs, title=f"{series.title}, {setting.label}"), text, alt
