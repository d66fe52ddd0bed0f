"""One calm, colour-blind-safe style for every figure, which greyscale does not spoil."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anacp.extras import require
from anacp.names import Names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart under every common colour blindness; its yellow darkened to be read as text.
BLUE, ORANGE, GREEN, PINK, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"
SKY, BROWN, BLACK, GREY = "#56B4E9", "#8C6D00", "#000000", "#6E6E6E"
COLOURS = (BLUE, ORANGE, GREEN, PINK, RED, SKY, BROWN)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
HATCHES = {"-": "", "--": "///", ":": "...", "-.": "xxx"}


@dataclass(frozen=True)
class Style:
    """How one method looks in every figure; marker, line and hatch tell it apart where colour does not."""

    colour: str
    marker: str
    line: str
    width: float = 1.6
    above: int = 2  # what is drawn over what

    @property
    def drawn(self) -> dict[str, Any]:
        """How lines and points of it are drawn, in matplotlib's words."""
        return {"color": self.colour, "marker": self.marker, "zorder": self.above}

    @property
    def hatch(self) -> str:
        """What fills its bars."""
        return HATCHES[self.line]


# Solid lines are closed forms, dashed ones train a network, dotted ones are variants, dash-dotted ones upper bounds.
LOOKS: Names[Style] = Names(
    "method",
    {
        "AnaCP": Style(BLACK, "o", "-", width=3.2, above=5),
        "AnaCP - Σ_y": Style(GREY, "h", ":", width=2.2, above=4),
        "SimpleCIL": Style(BLUE, "s", "-"),
        "SLDA": Style(ORANGE, "^", "-"),
        "KLDA": Style(GREEN, "D", "-"),
        "GACL": Style(PINK, "v", "-"),
        "APER": Style(BROWN, "*", "-"),
        "FeCAM": Style(SKY, "X", "-"),
        "RanPAC": Style(RED, "P", "-"),
        "L2P": Style(BLUE, "o", "--"),
        "DualPrompt": Style(ORANGE, "s", "--"),
        "CODA-Prompt": Style(GREEN, "^", "--"),
        "SLCA": Style(PINK, "D", "--"),
        "Sequential fine-tuning": Style(SKY, "v", "--"),
        "KLDA-E": Style(GREEN, "D", ":"),
        "ACIL": Style(PINK, "v", ":"),
        "ELM": Style(SKY, "s", ":"),
        "LoRanPAC": Style(RED, "P", ":"),
        "LoRanPAC-10k": Style(ORANGE, "X", ":"),
        "Joint linear probe": Style(BROWN, "<", "-."),
        "Joint fine-tuning": Style(RED, ">", "-."),
        "Ridge": Style(BLUE, "p", "-."),
    },
    aliases={
        "NCM": "SimpleCIL",
        "LinearProbe": "Joint linear probe",
        "JointLinearProbe": "Joint linear probe",
        "JointFineTuning": "Joint fine-tuning",
        "SequentialFineTuning": "Sequential fine-tuning",
    },
)
_TAKEN = {(style.marker, style.line) for style in LOOKS.values()}
_OTHERS = [
    Style(COLOURS[index % len(COLOURS)], marker, line)
    for index, (line, marker) in enumerate((line, marker) for line in HATCHES for marker in MARKERS)
    if (marker, line) not in _TAKEN
]


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each name: a known method's own, wherever and beside whomever it is drawn.

    Any other name has one of the styles that are left, chosen by the name alone unless another name took it.
    """
    wanted = list(dict.fromkeys(names))
    found = {name: LOOKS.find(name) for name in wanted if LOOKS.knows(name)}
    free = list(_OTHERS)
    for name in sorted(set(wanted) - found.keys()):
        free = free or list(_OTHERS)
        digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=4).digest()
        preferred = _OTHERS[int.from_bytes(digest) % len(_OTHERS)]
        found[name] = preferred if preferred in free else free[0]
        free.remove(found[name])
    return {name: found[name] for name in wanted}


def class_styles(n: int) -> list[Style]:
    """Return a colour and marker for each of n classes."""
    return [Style(COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)], "-") for i in range(n)]


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of this size in inches, or say how to install what draws it."""
    figure: Figure = require("matplotlib.figure", extra="reports", purpose="Drawing figures").Figure(
        figsize=(width, height), dpi=150, layout="constrained"
    )
    return figure


def calm(axes: "Axes", *, grid: Literal["both", "x", "y"] = "y") -> None:
    """Leave two spines and a faint grid behind the data."""
    axes.grid(axis=grid, alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def spread(heights: Sequence[float], *, gap: float, ceiling: float = math.inf) -> list[float]:
    """Move heights apart, as little as it takes, until neighbours are at least `gap` apart; their order stays.

    What would stand above the ceiling is pushed down.
    """
    order = np.argsort(heights, kind="stable")
    groups: list[list[int]] = []

    def middle(group: list[int]) -> float:
        return float(np.mean([heights[i] for i in group]))

    def overlap(below: list[int], above: list[int]) -> bool:
        return middle(above) - middle(below) < gap * (len(below) + len(above)) / 2

    for i in order.tolist():
        groups.append([i])
        while len(groups) > 1 and overlap(groups[-2], groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = list(heights)
    for group in groups:
        for place, i in enumerate(group):
            moved[i] = middle(group) + gap * (place - (len(group) - 1) / 2)
    for place, i in enumerate(reversed(order.tolist())):
        moved[i] = min(moved[i], ceiling - gap * place)
    return moved
