"""What all benchmarks say: a figure beside its bar, with what it was measured from."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]


def row(
    what: str,
    unit: str,
    figure: float,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    setting: str = "",
    note: str = "",
) -> Row:
    """Return one line of the table."""
    passed = (at_least is None or figure >= at_least) and (at_most is None or figure <= at_most)
    bar = f"≥ {at_least:g}" if at_least is not None else f"≤ {at_most:g}" if at_most is not None else ""
    return {
        "what": what,
        "setting": setting,
        "figure": figure,
        "unit": unit,
        "bar": bar,
        "passed": passed,
        "note": note,
    }


def median(times: Sequence[float]) -> float:
    """Return the middle one."""
    return statistics.median(times)


def spread(times: Sequence[float]) -> str:
    """Return the median with the least and the most, for a person."""
    return f"{median(times):.3g} ({min(times):.3g} to {max(times):.3g})"


def printed(rows: Iterable[Row]) -> None:
    """Print every row on a line."""
    for one in rows:
        met = "" if not one["bar"] else f" (bar {one['bar']}: {'met' if one['passed'] else 'MISSED'})"
        print(f"{one['what']}, {one['setting']}: {one['figure']:.4g} {one['unit']}{met}; {one['note']}", flush=True)
