"""The rows of the paper's tables: methods by the names the paper gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from anacp.methods.choosing import takes

__all__ = ["ABLATION", "MAIN", "TABLES", "Row"]


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    title: str  # as the paper has it
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    adapted: bool = False  # the backbone is adapted to the first task
    concatenate: bool = False
    joint: bool = False

    @property
    def trained(self) -> bool:
        """Whether the row trains a network on every task, which takes hours on a CPU."""
        return takes(self.method) == "items"


MAIN = (
    Row("Joint linear probe", "LinearProbe", joint=True),
    Row("Joint fine-tuning", "JointFineTuning", joint=True),
    Row("L2P", "L2P"),
    Row("DualPrompt", "DualPrompt"),
    Row("CODA-Prompt", "CODAPrompt"),
    Row("SLCA", "SLCA"),
    Row("Sequential fine-tuning", "SequentialFineTuning"),  # not the paper's: what forgetting looks like
    Row("SimpleCIL", "NCM"),
    Row("SLDA", "SLDA"),
    Row("KLDA", "KLDA"),
    Row("GACL", "GACL"),
    Row("APER", "NCM", adapted=True, concatenate=True),
    Row("FeCAM", "FeCAM"),
    Row("RanPAC", "RanPAC", adapted=True),
    Row("AnaCP - Σ_y", "AnaCP", {"covariance": "class"}, adapted=True),
    Row("AnaCP", "AnaCP", adapted=True),
)

# The paper's numbering; 6, 9, 11 and 15 are the method as it is. Every row is adapted, as in the paper.
_CHANGES: tuple[Mapping[str, Any], ...] = (
    {"method": "NCM"},
    {"classifier": "ncm", "targets": "means"},
    {"classifier": "ncm"},
    {"method": "ELM"},
    {"targets": "means"},
    {},
    {"n_replay": 20},
    {"n_replay": 50},
    {},
    {"n_heads": 1},
    {},
    {"n_heads": 5},
    {"n_projected": 1000},
    {"n_projected": 2000},
    {},
    {"n_projected": 10_000},
)


def _ablation() -> Iterable[Row]:
    for number, changes in enumerate(_CHANGES, 1):
        parameters = {name: value for name, value in changes.items() if name != "method"}
        yield Row(str(number), str(changes.get("method", "AnaCP")), parameters, adapted=True)


ABLATION = (*_ablation(), Row("without FSA", "AnaCP"))

TABLES: dict[str, tuple[Row, ...]] = {
    "table1": MAIN,
    "table2": tuple(row for row in MAIN if row.title not in ("L2P", "DualPrompt", "CODA-Prompt")),
    "ablation": ABLATION,
    "forgetting": (Row("AnaCP", "AnaCP", adapted=True),),
    "efficiency": MAIN,
}
