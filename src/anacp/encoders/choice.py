"""Why an encoder has the layers that it has: what was tried, and how well each answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from anacp.backbones import PATCHES, Layers
from anacp.files import Fact, Record
from anacp.words import counted

LAYER = Fact(
    f"an integer or {PATCHES!r}",
    lambda value: value == PATCHES or Fact.whole().accepts(value),
)
# What a model file says of a choice.
CHOICE = Record(
    {"tried": LAYER.several.several, "mistakes": Fact.whole(0).several, "examples": Fact.whole(0)},
    {"losses": Fact.share().several},
)


@dataclass(frozen=True)
class LayerChoice:
    """Layers chosen by examples, each judged by a fit to all others; by rule, where there were too few to tell."""

    tried: tuple[Layers, ...]  # the first chosen layers among them are those of the encoder
    mistakes: tuple[int, ...]  # of each; none where nothing was tried
    n_examples: int
    losses: tuple[float, ...] = ()  # the mean log-loss of each, by which they were chosen; none by mistakes alone

    def words(self, chosen: Layers) -> str:
        """Say what was chosen and why, in one line."""
        if not self.mistakes:
            return f"layers {layer_names(chosen)}, by rule: {counted(self.n_examples, 'example')} cannot tell"
        wrong = [f"{100 * mistakes / self.n_examples:.1f} %" for mistakes in self.mistakes]
        by = "log-loss (and mistakes)" if self.losses else "mistakes"
        judged = [f"{loss:.3f} ({one})" for loss, one in zip(self.losses, wrong, strict=True)] if self.losses else wrong
        each = ", ".join(f"{layer_names(layers)}: {one}" for layers, one in zip(self.tried, judged, strict=True))
        return f"layers {layer_names(chosen)}, chosen by {by} on {self.n_examples:,} left-out examples: {each}"

    def header(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        tried = [list(layers) for layers in self.tried]
        stated = {"tried": tried, "mistakes": list(self.mistakes), "examples": self.n_examples}
        return stated | ({"losses": list(self.losses)} if self.losses else {})

    @classmethod
    def restored(cls, header: Mapping[str, Any]) -> Self:
        """Return it from what `header` gave."""
        losses = tuple(header.get("losses", ()))
        return cls(tuple(map(tuple, header["tried"])), tuple(header["mistakes"]), header["examples"], losses)


def layer_names(layers: Layers) -> str:
    """Return layers in few words: "-4 … -1" for many in a row."""
    numbers = [layer for layer in layers if isinstance(layer, int)]
    others = [layer for layer in layers if not isinstance(layer, int)]
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return " and ".join([f"{numbers[0]} … {numbers[-1]}", *others])
    return ", ".join(map(str, layers))
