"""What a report says and in which order, before it is written in any format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anacp.reports import pictures, provenance
from anacp.reports.collect import Collection, Comparison
from anacp.reports.figures.picture import Absent, Picture
from anacp.reports.figures.style import Style, styles
from anacp.reports.paper import citation, cost
from anacp.reports.provenance import Listing
from anacp.reports.settings import Setting
from anacp.reports.tables import Table
from anacp.reports.tables.ablation import ablation_table
from anacp.reports.tables.efficiency import EFFICIENCY, efficiency_table
from anacp.reports.tables.forgetting import FORGETTING, forgetting_table, matrix_table
from anacp.reports.tables.results import results_table

__all__ = ["Block", "Contents", "Section", "contents"]

Block = str | Table | Picture | Absent | Listing


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
    n_variants = sum(len(each.titles) for each in collection.comparisons if each.table == "ablation")
    variants = [f"{n_variants} variants of an ablation"] if n_variants else []
    return (
        ("Data sets", listed([f"{run.dataset.get('title') or run.dataset['name']}" for run in runs])),
        ("Backbones", listed([run.made_by.get("name", "features as given") for run in runs])),
        ("Methods", listed([*collection.titles, *variants])),
        ("Seeds", listed(sorted({run.seed for run in runs}))),
        ("Runs", f"{len(runs)} finished" + (f", {len(collection.left_out)} left out" if collection.left_out else "")),
    )


def _comparison(comparison: Comparison, looks: dict[str, Style], drawn: bool) -> Iterator[Section]:
    name = comparison.table or "results"
    accuracies: list[Block] = [results_table(comparison)]
    costs: list[Block] = [EFFICIENCY]
    forgotten: list[Block] = [FORGETTING]
    seen: list[Block] = []
    for n, setting in enumerate(comparison.settings, 1):

        def figure(kind: str, draw: pictures.Draw, setting: Setting = setting, n: int = n) -> list[Block]:
            return [draw(comparison, setting, looks, identifier=f"{name}-{kind}-{n}")] if drawn else []

        accuracies += figure("curves", pictures.curves)
        costs.append(efficiency_table(comparison, setting, identifier=f"{name}-efficiency-{n}"))
        costs += figure("cost", pictures.costs)
        featured = comparison.featured(setting)
        if featured is not None and not featured.joint:
            forgotten.append(forgetting_table(comparison, setting, identifier=f"{name}-forgetting-{n}"))
            forgotten += figure("forgotten", pictures.forgetting) + figure("matrices", pictures.matrices)
            matrix = matrix_table(featured, identifier=f"{name}-matrix-{n}")
            forgotten += [matrix] if matrix else []
        seen += figure("features", pictures.embeddings) + figure("confused", pictures.confusions)
    if any(setting.paper_column(comparison.table) for setting in comparison.settings):
        costs.append(cost())
    yield Section(f"section-{name}", _heading(comparison), tuple(accuracies))
    if len(forgotten) > 1:
        yield Section(f"section-{name}-forgetting", "What is forgotten", tuple(forgotten))
    yield Section(f"section-{name}-cost", "What it costs", tuple(costs))
    if seen:
        yield Section(f"section-{name}-features", "Features and confusions", tuple(seen))


def _heading(comparison: Comparison) -> str:
    if comparison.table is None:
        return "Results"
    stands_in = all(setting.substitute for setting in comparison.settings)
    number = comparison.table.removeprefix("table")
    return f"{'A substitute for the' if stands_in else 'The'} paper’s Table {number}"


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
