"""What the commands that learn, forget and measure share: labelled examples, as a person gives them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anacp import backbones, files, learners, methods
from anacp.errors import AnacpError, MismatchError, UncheckedFileWarning
from anacp.words import visible

MOST_SHOWN, LONGEST_SHOWN = 20, 40
FEW_FOREIGN = 0.1  # a sentence in two hundred looks foreign by its names and slips of the pen


def expected_modality(model: Path, backbone: str | None = None) -> str | None:
    """Return whether a model, or the backbone of one that is not there yet, takes images or texts; None if unknown."""
    if not model.exists():
        known = backbones.PRESETS.get(backbone or "")
        return None if known is None else known.modality
    return _stated(model, "modality")


def _stated(model: Path, name: str) -> str | None:
    """Return what a model file says of its backbone; None if that is nothing."""
    try:
        return str(_header(model)["backbone"][name])
    except (AnacpError, KeyError, TypeError):  # said when it is loaded
        return None


def _header(model: Path) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncheckedFileWarning)  # said when it is loaded
        return files.TensorFile(model, learners.MODEL).header


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


def text_warnings(model: Path, found: methods.Learned | methods.Answers, n: int) -> Iterator[str]:
    """Yield what is to be said of texts, among n, for which an answer misleads: too long, or in another language."""
    name = _stated(model, "name") if found.cut or found.foreign else None
    if found.cut:
        count = "1 text is" if len(found.cut) == 1 else f"{len(found.cut):,} texts are"
        yield f"warning: {count} longer than {name} reads, only the beginning counts: {_beginning(found.cut[0])}"
    if len(found.foreign) > FEW_FOREIGN * n:
        count = "1 text does" if len(found.foreign) == 1 else f"{len(found.foreign):,} texts do"
        language = backbones.PRESETS[str(name)].language
        yield (
            f"warning: {count} not look like {language}, which {name} was made for, and may be named wrongly: "
            f"{_beginning(found.foreign[0])}"
        )


def feature_warnings(model: Path, place: str, width: int, made_by: str | None) -> Iterator[str]:
    """Yield what is to be said of features that a model of features was not learned with; another width is refused."""
    header = _header(model)
    expected, learned_from = header["n_features"], header.get("features_from")
    if width != expected:
        of = f" of {learned_from}" if learned_from else ""
        got = f" of {made_by}" if made_by else ""
        raise MismatchError(
            f"Expected rows of {expected:,} features{of}, which {model} was learned with, got {width:,}{got} in "
            f"{place}, of another network. Make them with the same one."
        )
    if made_by and learned_from and made_by != learned_from:
        yield (
            f"warning: {place} has features of {made_by}, {model} was learned with those of {learned_from}: its "
            "answers mean nothing for them"
        )


def _beginning(text: str) -> str:
    return visible(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")
