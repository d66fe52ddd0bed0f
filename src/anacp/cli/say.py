"""Lines that reach a terminal; without rich, which takes long to import."""

import typer

from anacp.words import visible

NEW_LINE_AND_TAB = "\n\t"


def say(text: object, *, err: bool = False, end: str = "\n") -> None:
    """Print lines that do nothing to the terminal."""
    typer.echo(f"{visible(text, keep=NEW_LINE_AND_TAB)}{end}", err=err, nl=False)
