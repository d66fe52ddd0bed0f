"""What the service answers where it does not do what was asked: a status, a code, and what to do."""

from __future__ import annotations

from typing import Any

from anacp import errors
from anacp.errors import AnacpError

# The first that fits counts, so what is special stands before what is general.
STATUS: dict[str, tuple[int, str]] = {
    "TooLargeError": (413, "too_large"),
    "ImageError": (422, "unreadable"),
    "InputError": (422, "input"),
    "ParameterError": (422, "parameter"),
    "DataFileError": (422, "file"),
    "ModelFileError": (422, "model_file"),
    "MismatchError": (409, "mismatch"),
    "NotLearnedError": (409, "nothing_learned"),
    "NumericalError": (409, "numerical"),
    "UnknownNameError": (404, "unknown_name"),
    "UnavailableError": (501, "unavailable"),
    "BusyError": (503, "busy"),
    "DiskError": (507, "disk"),
}


class RefusedError(AnacpError):
    """Something that is not done, and nothing has changed.

    Parameters
    ----------
    status : int
        Of HTTP.
    code : str
        For programs.
    message : str
        What was expected, what was found.
    advice : str
        What to do.
    headers : dict, optional
        Of the answer.
    """

    def __init__(
        self, status: int, code: str, message: str, advice: str = "", *, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(f"{message} {advice}".strip())
        self.status, self.code, self.message, self.advice = status, code, message, advice
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """Return what a client reads."""
        return {"error": {"code": self.code, "message": self.message, "advice": self.advice}}


def refusal(problem: AnacpError) -> RefusedError:
    """Return any error of the package as a refusal; the last sentences of its message say what to do."""
    if isinstance(problem, RefusedError):
        return problem
    fitting = (answer for name, answer in STATUS.items() if isinstance(problem, getattr(errors, name)))
    status, code = next(fitting, (422, "refused"))
    expected, _, rest = str(problem).partition(", got")
    found, _, advice = rest.partition(". ")
    said = f"{expected}, got{found}." if advice else str(problem)
    return RefusedError(status, code, said, advice)


def missing(what: str, name: str, advice: str) -> RefusedError:
    """Return the refusal for something that is not here."""
    return RefusedError(404, "not_found", f"Expected {what} that is here, got {name[:80]!r}.", advice)
