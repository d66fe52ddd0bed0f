"""What a report says and in which order, before it is written in any format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anacp.paper import citation, printed_cost
from anacp.reports import pictures, provenance
from anacp.reports.collection import Collection, Comparison
from anacp.reports.figures.style import Style, styles
from anacp.reports.pictures import Absent, Draw, Picture, picture
from anacp.reports.provenance import Listing
from anacp.reports.settings import Setting, what_was_run
from anacp.reports.tables.ablation import ablation_table
from anacp.reports.tables.details import (
    EFFICIENCY,
    FORGETTING,
    efficiency_table,
    forgetting_table,
    matrix_table,
    parameters_table,
)
from anacp.reports.tables.results import results_table
from anacp.reports.tables.table import Table
from anacp.words import counted

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


def report_contents(collection: Collection, *, title: str | None = None, drawn: bool = True) -> Contents:
    """Put together what a report says; without `drawn`, no figure is made."""
    by_name = styles(collection.looks.values())
    looks = {shown: by_name[name] for shown, name in collection.looks.items()}
    sections: list[Section] = []
    for comparison in collection.comparisons:
        if comparison.ablation:
            told = (ablation_table(comparison), parameters_table(comparison, identifier="ablation-parameters"))
            sections.append(Section("section-ablation", _heading(comparison), told))
        else:
            sections += _comparison(comparison, looks, drawn)
    sections.append(Section("section-provenance", "Where the numbers come from", tuple(_provenance(collection))))
    return Contents(title or _title(collection), _facts(collection), tuple(collection.substitutes), tuple(sections))


def _facts(collection: Collection) -> tuple[tuple[str, str], ...]:
    def listed(values: Sequence[object]) -> str:
        return ", ".join(dict.fromkeys(map(str, values)))

    runs = collection.runs
    n_variants = sum(len(each.titles) for each in collection.comparisons if each.ablation)
    variants = [f"{counted(n_variants, 'variant')} of an ablation"] if n_variants else []
    return (
        ("Data sets", listed([run.dataset.get("title") or run.dataset["name"] for run in runs])),
        ("Backbones", listed([run.made_by.get("name", "features as given") for run in runs])),
        ("Methods", listed([*collection.looks, *variants])),
        ("Seeds", listed(sorted({run.seed for run in runs}))),
        ("Runs", f"{len(runs)} finished" + (f", {len(collection.left_out)} left out" if collection.left_out else "")),
    )


def _comparison(comparison: Comparison, looks: dict[str, Style], drawn: bool) -> Iterator[Section]:
    name = comparison.paper.name if comparison.paper else "results"
    accuracies: list[Block] = [results_table(comparison)]
    costs: list[Block] = [EFFICIENCY]
    forgotten: list[Block] = [FORGETTING]
    seen: list[Block] = []
    for n, setting in enumerate(comparison.settings, 1):

        def figure(kind: str, draw: Draw, setting: Setting = setting, n: int = n) -> list[Block]:
            return [picture(draw, comparison, setting, looks, f"{name}-{kind}-{n}")] if drawn else []

        accuracies += figure("curves", pictures.draw_curves)
        costs.append(efficiency_table(comparison, setting, identifier=f"{name}-efficiency-{n}"))
        costs += figure("cost", pictures.draw_costs)
        featured = comparison.featured(setting)
        if featured is not None and not featured.joint:
            forgotten.append(forgetting_table(comparison, setting, identifier=f"{name}-forgetting-{n}"))
            forgotten += figure("forgotten", pictures.draw_forgetting) + figure("matrices", pictures.draw_matrices)
            matrix = matrix_table(featured, identifier=f"{name}-matrix-{n}")
            forgotten += [matrix] if matrix else []
        seen += figure("features", pictures.draw_embeddings) + figure("confused", pictures.draw_confusions)
    accuracies.append(parameters_table(comparison, identifier=f"{name}-parameters"))
    if any(setting.column for setting in comparison.settings):
        costs.append(printed_cost())
    yield Section(f"section-{name}", _heading(comparison), tuple(accuracies))
    if len(forgotten) > 1:
        yield Section(f"section-{name}-forgetting", "What is forgotten", tuple(forgotten))
    yield Section(f"section-{name}-cost", "What it costs", tuple(costs))
    if seen:
        yield Section(f"section-{name}-features", "Features and confusions", tuple(seen))


def _title(collection: Collection) -> str:
    """Return what was run: the tables it stands for, the backbones and the data."""
    said = "; ".join(
        f"{each.paper.title if each.paper else 'results'} {what_was_run(each.settings)}"
        for each in collection.comparisons
    )
    return said[0].upper() + said[1:]


def _heading(comparison: Comparison) -> str:
    if comparison.paper is None:
        return "Results, quick" if any(setting.quick for setting in comparison.settings) else "Results"
    stands_in = all(setting.substitute for setting in comparison.settings)
    whose = "A substitute for the" if stands_in else "The"
    return f"{whose} paper’s {comparison.paper.title}, {what_was_run(comparison.settings)}"


def _provenance(collection: Collection) -> Iterator[Block]:
    yield "Protocols: everything that decides which classes come when, and how accuracies are averaged."
    yield from provenance.protocols(collection)
    yield provenance.backbones_table(collection)
    yield provenance.datasets_table(collection)
    yield "Environments: versions and machines."
    yield from provenance.environments(collection)
    yield provenance.runs_table(collection)
    if collection.left_out:
        lines = tuple(f"{entry.folder}: {entry.reason}" for entry in collection.left_out)
        yield Listing(f"Left out: {len(lines)}", lines)
    yield f"Numbers of the paper: {citation()}"
