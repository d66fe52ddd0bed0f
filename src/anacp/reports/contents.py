"""What a report says and in which order, before it is written in any format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anacp.reports import pictures, provenance
from anacp.reports.collect import Collection, Comparison
from anacp.reports.figures.picture import Absent, Picture
from anacp.reports.figures.style import Style, styles
from anacp.reports.paper import citation
from anacp.reports.provenance import Listing
from anacp.reports.tables import Table
from anacp.reports.tables.ablation import ablation_table
from anacp.reports.tables.efficiency import efficiency_table
from anacp.reports.tables.forgetting import forgetting_table, matrix_table
from anacp.reports.tables.results import results_table

__all__ = ["Block", "Contents", "Section", "contents"]

Block = str | Table | Picture | Absent | Listing
HEADINGS = {"table1": "The paper’s Table 1", "table2": "The paper’s Table 2", None: "Results"}


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Contents:
    """A whole report."""

    title: str
    facts: tuple[tuple[str, str], ...]  # what was run, in a few lines
    notices: tuple[str, ...]  # what must not be overlooked
    sections: tuple[Section, ...]

    def tables(self) -> list[Table]:
        """Return every table, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Table)]


def contents(collection: Collection, *, title: str | None = None, drawn: bool = True) -> Contents:
    """Put together what a report says; without `drawn`, no figure is made."""
    looks = styles(collection.titles)
    sections: list[Section] = []
    for comparison in collection.comparisons:
        if comparison.table == "ablation":
            sections.append(Section("section-ablation", "Ablation", (ablation_table(comparison),)))
        else:
            sections += _comparison(comparison, looks, drawn)
    sections.append(Section("section-provenance", "Where the numbers come from", tuple(_provenance(collection))))
    shown = title or f"{', '.join(dict.fromkeys(str(run.dataset['name']) for run in collection.runs))}: results"
    return Contents(shown, _facts(collection), tuple(collection.substitutes), tuple(sections))


def _facts(collection: Collection) -> tuple[tuple[str, str], ...]:
    def listed(values: Sequence[object]) -> str:
        return ", ".join(dict.fromkeys(map(str, values)))

    runs = collection.runs
    titles = [title for comparison in collection.comparisons for title in comparison.titles]
    return (
        ("Data sets", listed([f"{run.dataset.get('title') or run.dataset['name']}" for run in runs])),
        ("Backbones", listed([run.backbone["name"] if run.backbone else "features as given" for run in runs])),
        ("Methods", listed(titles)),
        ("Seeds", listed(sorted({run.seed for run in runs}))),
        ("Runs", f"{len(runs)} finished" + (f", {len(collection.left_out)} left out" if collection.left_out else "")),
    )


def _comparison(comparison: Comparison, looks: dict[str, Style], drawn: bool) -> Iterator[Section]:
    name = comparison.table or "results"
    settings = list(enumerate(comparison.settings, 1))

    def figures(kind: str, draw: pictures.Draw) -> list[Block]:
        shown = settings if drawn else []
        return [draw(comparison, setting, looks, identifier=f"{name}-{kind}-{n}") for n, setting in shown]

    accuracies = [results_table(comparison), *figures("curves", pictures.curves)]
    yield Section(f"section-{name}", HEADINGS[comparison.table], tuple(accuracies))
    costs = [efficiency_table(comparison, identifier=f"{name}-efficiency"), *figures("cost", pictures.costs)]
    yield Section(f"section-{name}-cost", "What it costs", tuple(costs))
    if any(not series.joint for series in comparison.series.values()):
        forgotten = [forgetting_table(comparison, identifier=f"{name}-forgetting")]
        bars = figures("forgotten", pictures.forgetting) + figures("matrices", pictures.matrices)
        matrices = [
            matrix
            for n, setting in settings
            if (series := comparison.featured(setting)) and not series.joint
            if (matrix := matrix_table(series, identifier=f"{name}-matrix-{n}"))
        ]
        yield Section(f"section-{name}-forgetting", "What is forgotten", (*forgotten, *bars, *matrices))
    if drawn:
        seen = figures("features", pictures.embeddings) + figures("confused", pictures.confusions)
        yield Section(f"section-{name}-features", "Features and confusions", tuple(seen))


def _provenance(collection: Collection) -> Iterator[Block]:
    yield "Protocols: everything that decides which classes come when, and how accuracies are averaged."
    yield from provenance.protocols(collection)
    yield provenance.backbones(collection)
    yield provenance.datasets(collection)
    yield "Environments: versions and machines."
    yield from provenance.environments(collection)
    yield provenance.runs(collection)
    if collection.left_out:
        lines = tuple(provenance.left_out(collection.left_out))
        yield Listing(f"Left out: {len(lines)}", lines)
    yield f"Numbers of the paper: {citation()}"
