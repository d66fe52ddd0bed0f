"""A figure as a page needs it: drawn, named and described."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Absent", "Picture", "picture"]


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    id: str
    caption: str
    alt: str
    svg: bytes


@dataclass(frozen=True)
class Absent:
    """A figure that could not be drawn, and why."""

    id: str
    reason: str


def picture(figure: "Figure", *, identifier: str, caption: str, alt: str) -> Picture:
    """Draw a figure as SVG; the same figure gives the same bytes, and letters are shapes, so that no font is needed."""
    import matplotlib

    written = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": identifier, "svg.fonttype": "path"}):
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(identifier, caption, alt, written.getvalue())
