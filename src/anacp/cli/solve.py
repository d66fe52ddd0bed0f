"""`anacp solve`: what the first prediction would compute, once and for all that follow."""

import json

from anacp.cli.options import AsJson, ModelPath
from anacp.cli.progress import solve_visibly
from anacp.cli.screen import Screen, say
from anacp.files import locked
from anacp.methods import Classifier


def solve(model: ModelPath, as_json: AsJson = False) -> None:
    """Solve a model that was learned with --no-solve, and keep the solution in its file."""
    with locked(model):
        classifier = Classifier.load(model)
        seconds = solve_visibly(classifier, Screen(quiet=as_json))
        classifier.save(model)
    facts = {"model": str(model), "classes": len(classifier.classes_), "seconds": round(seconds, 3)}
    say(json.dumps(facts) if as_json else f"{model}: solved for {facts['classes']:,} classes in {seconds:.1f} s")
