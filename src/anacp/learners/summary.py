"""What a model holds: numbers and bytes, part by part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Part", "format_bytes", "table"]


@dataclass(frozen=True)
class Part:
    """One stored tensor."""

    name: str
    numbers: int
    bytes: int


def format_bytes(size: float) -> str:
    """Return a size with three significant digits and a decimal unit, such as 41.3 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} B" if unit == "B" else f"{size:.3g} {unit}"


def table(title: str, parts: Sequence[Part], rebuilt: Mapping[str, int]) -> str:
    """Return an aligned plain-text table with its total, and what is rebuilt instead of stored."""
    total = Part("total stored", sum(p.numbers for p in parts), sum(p.bytes for p in parts))
    width = max(len(p.name) for p in (*parts, total))
    rows = [f"{p.name:<{width}}  {p.numbers:>14,}  {format_bytes(p.bytes):>8}" for p in (*parts, total)]
    head = f"{'part':<{width}}  {'numbers':>14}  {'size':>8}"
    rule = "-" * len(head)
    notes = ["not stored, rebuilt when needed:"] if rebuilt else []
    notes += [f"  {name}: {numbers:,} numbers" for name, numbers in rebuilt.items()]
    return "\n".join([title, rule, head, rule, *rows[:-1], rule, rows[-1], *notes])
