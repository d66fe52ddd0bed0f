"""What reaches a terminal: names and texts from data are shown, never obeyed."""

from typing import Any

from rich.console import Console
from rich.text import Text

from anacp.words import visible


class Screen(Console):
    """A console that shows control characters instead of sending them, and brackets as they are."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False} | options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text that does nothing to the terminal; lines may end."""
        return super().render_str(visible(text, keep="\n"), **options)
