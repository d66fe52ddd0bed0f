"""What the commands that learn, forget and measure share: labelled examples, as a person gives them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anacp import backbones, files, learners
from anacp.errors import AnacpError, UncheckedFileWarning
from anacp.words import visible

MOST_SHOWN = 20


def expected_modality(model: Path, backbone: str | None = None) -> str | None:
    """Return whether a model, or the backbone of one that is not there yet, takes images or texts; None if unknown."""
    try:
        if not model.exists():
            known = backbones.PRESETS.get(backbone or "")
            return None if known is None else known.modality
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncheckedFileWarning)  # said when it is loaded
            header = files.TensorFile(model, learners.MODEL).header
        return str(header["backbone"]["modality"])
    except (AnacpError, KeyError, TypeError):  # said when it is loaded
        return None


def source_of(examples: Sequence[str]) -> str:
    """Return from where examples come, for the journal of a model: names of places, never a text itself."""
    places = ["standard input" if one == "-" else one for one in examples if one == "-" or os.path.exists(one)]
    return ", ".join(places) or "texts that were given"


def facts_of(pairs: Sequence[tuple[Any, str]]) -> list[dict[str, str]]:
    """Return inputs and reasons ready for JSON."""
    return [{"input": str(place), "reason": reason} for place, reason in pairs]


def lines_of(what: str, pairs: Sequence[tuple[Any, str]]) -> Iterator[str]:
    """Yield a line for each input and reason, of many only the first."""
    for place, reason in pairs[:MOST_SHOWN]:
        yield f"{what} {visible(place)}: {visible(reason)}"
    if len(pairs) > MOST_SHOWN:
        yield f"{what} {len(pairs) - MOST_SHOWN:,} more: --json lists all"


def cut_line(cut: Sequence[Any], name: str) -> Iterator[str]:
    """Yield what is to be said of texts that are too long, if there are any."""
    if cut:
        shown = visible(str(cut[0])[:40])
        count = "1 text is" if len(cut) == 1 else f"{len(cut):,} texts are"
        yield f"warning: {count} longer than {name} reads, only the beginning counts: {shown}…"
