"""How numbers and lists are put into words, the same in every message and table."""

from collections.abc import Callable, Sequence

__all__ = ["counted", "format_bytes", "listed"]


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


def listed(labels: Sequence[object], limit: int = 5, *, show: Callable[[object], str] = repr) -> str:
    """Return the first few labels for a message."""
    shown = ", ".join(map(show, labels[:limit]))
    return shown if len(labels) <= limit else f"{shown} and {len(labels) - limit} more"
