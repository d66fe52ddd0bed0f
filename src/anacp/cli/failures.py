"""What the system refuses, in one line that says what to do: disk, rights, memory."""

from anacp.errors import AnacpError
from anacp.files import advice

MEMORY = (
    "Expected enough memory, got none left. Close other programs, give fewer or smaller examples at once, or choose "
    "smaller settings (`n_projected`)."
)
# How libraries that are not written in Python say so, as a RuntimeError.
SAID = ("not enough memory", "can't allocate memory", "out of memory", "bad_alloc", "failed to allocate")


def said(problem: Exception) -> str | None:
    """Return the line for an error that is no bug of ours; None for one that is."""
    if isinstance(problem, AnacpError):
        return str(problem)
    if isinstance(problem, OSError):
        return f"Expected the system to do its part, got: {problem}. {advice(problem.errno)}"
    words = str(problem).lower()
    if isinstance(problem, MemoryError) or (isinstance(problem, RuntimeError) and any(one in words for one in SAID)):
        return MEMORY
    return None
