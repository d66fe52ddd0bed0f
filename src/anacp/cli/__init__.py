"""The command line: all colour, progress and printing."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.cli.app import main
    from anacp.cli.progress import progress_bars, shown_progress, solve_visibly
    from anacp.cli.screen import Screen
    from anacp.cli.stopping import stoppable
    from anacp.cli.sweeps import ShownSweep, comparison_table, crew_on, timing

__all__ = [
    "Screen",
    "ShownSweep",
    "comparison_table",
    "crew_on",
    "main",
    "progress_bars",
    "shown_progress",
    "solve_visibly",
    "stoppable",
    "timing",
]

__getattr__ = door(__name__)
