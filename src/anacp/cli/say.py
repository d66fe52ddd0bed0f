"""Lines that reach a terminal; without rich, which takes long to import."""

import typer

from anacp.words import visible


def say(text: object, *, err: bool = False) -> None:
    """Print lines that do nothing to the terminal."""
    typer.echo(visible(text, keep="\n\t"), err=err)
