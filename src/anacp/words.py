"""How numbers and lists are put into words, the same in every message and table."""

import re
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["LONGEST_PLACE", "SKIPPING", "counted", "format_bytes", "listed", "visible"]

LONGEST_LABEL, LONGEST_PLACE = 80, 1000  # characters of one in a message
SKIPPING = "--on-error skip (in Python on_error='skip')"  # how what cannot be used is left out

# What a terminal obeys instead of showing it: control characters, changes of direction, halves of characters.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def counted(n: int, what: str) -> str:
    """Return "1 run", "1,200 runs", "2 classes" or "3 entries"."""
    plural = f"{what}es" if what.endswith("s") else f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n:,} {what if n == 1 else plural}"


def format_bytes(size: float) -> str:
    """Return a size with three significant digits and a decimal unit, such as 41.3 MB."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} B" if unit == "B" else f"{size:.3g} {unit}"


def listed(
    labels: Sequence[object], limit: int = 5, *, show: Callable[[Any], str] = repr, longest: int = LONGEST_LABEL
) -> str:
    """Return the first few labels for a message; those of files are left `longest`, since they differ at their end."""
    shown = ", ".join(_shortened(show(label), longest) for label in labels[:limit])
    return shown if len(labels) <= limit else f"{shown} and {len(labels) - limit} more"


def visible(text: object, *, keep: str = "") -> str:
    r"""Return a text that does nothing to a terminal: what it would obey is spelled out, such as \x1b.

    `keep` are characters to leave as they are, such as the ends of lines.
    """

    def spelled(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return OBEYED.sub(spelled, str(text))


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
