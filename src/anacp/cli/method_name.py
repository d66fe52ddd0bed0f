"""The method that --learner names."""

from anacp import methods
from anacp.errors import InputError


def method_named(learner: str) -> str:
    """Return the name of a method, or of the one in a file of one's own."""
    if not learner.endswith(".py"):
        return learner
    names = methods.methods_in(learner)
    if len(names) > 1:
        raise InputError(f"Expected one method in {learner}, got {', '.join(names)}. Name one of them: --learner NAME.")
    return names[0]
