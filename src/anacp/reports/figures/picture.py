"""A figure as a page needs it: drawn, named and described."""

import io
import warnings
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
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a class may be called $x_{$
    written = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": identifier, "svg.fonttype": "path"}), warnings.catch_warnings():
        # Names in scripts that the font lacks show as boxes; the tables have them in full.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(identifier, caption, alt, written.getvalue())
