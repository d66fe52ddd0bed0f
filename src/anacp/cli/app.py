"""The `anacp` command."""

import sys
from typing import Annotated

import typer

from anacp.cli.compare import compare
from anacp.cli.datasets import commands as datasets
from anacp.cli.demo import demo
from anacp.cli.evaluate import evaluate
from anacp.cli.export import export
from anacp.cli.failures import said
from anacp.cli.features import features
from anacp.cli.forget import forget
from anacp.cli.history import history
from anacp.cli.info import info
from anacp.cli.join import join
from anacp.cli.learn import learn
from anacp.cli.merge import merge
from anacp.cli.predict import predict
from anacp.cli.redo import redo
from anacp.cli.relabel import relabel
from anacp.cli.rename import rename
from anacp.cli.report import report_command
from anacp.cli.reproduce import reproduce
from anacp.cli.run import run_command
from anacp.cli.say import say
from anacp.cli.serve import serve
from anacp.cli.solve import solve
from anacp.cli.stopping import stoppable
from anacp.cli.suspects import suspects
from anacp.cli.undo import undo
from anacp.version import __version__

app = typer.Typer(
    name="anacp",
    help="A classifier that keeps learning new classes, in seconds, without forgetting.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anacp {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep learning new classes, in seconds, without forgetting."""


app.command()(learn)
app.command()(predict)
app.command()(evaluate)
app.command()(suspects)
app.command()(solve)
app.command()(forget)
app.command()(relabel)
app.command()(rename)
app.command()(join)
app.command()(merge)
app.command()(undo)
app.command()(redo)
app.command()(history)
app.command()(export)
app.command()(serve)
app.command()(info)
app.command()(demo)
app.command()(compare)
app.command("run")(run_command)
app.command()(reproduce)
app.command("report")(report_command)
app.add_typer(datasets, name="datasets")
app.add_typer(features, name="features")


def main() -> None:
    """Run the command line; what is no bug of ours is one line, not a traceback."""
    with stoppable():
        try:
            app()
        except Exception as problem:
            line = said(problem)
            if line is None:
                raise
            say("anacp: " + " ".join(line.splitlines()), err=True)
            sys.exit(2)
