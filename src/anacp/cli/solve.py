"""`anacp solve`: what the first prediction would compute, once and for all that follow."""

from __future__ import annotations

import json

from anacp import cli, methods
from anacp.cli.options import AsJson, Exact, ModelPath
from anacp.cli.say import say
from anacp.cli.stopping import FileBefore, kept
from anacp.files import locked
from anacp.words import counted


def solve(model: ModelPath, exact: Exact = False, as_json: AsJson = False) -> None:
    """Solve a model that was learned with --no-solve, and keep the solution in its file."""
    with kept(FileBefore(model).words), locked(model):
        classifier = methods.Classifier.load(model)
        seconds = cli.solve_visibly(classifier, cli.Screen(quiet=as_json))
        classifier.save(model, exact=exact)
    facts = {"model": str(model), "classes": len(classifier.classes_), "seconds": round(seconds, 3)}
    say(
        json.dumps(facts)
        if as_json
        else f"{model}: solved for {counted(len(classifier.classes_), 'class')} in {seconds:.1f} s"
    )
