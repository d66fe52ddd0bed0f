"""Every error the package raises on purpose, one root and a few leaves, and its warnings.

A message says what was expected, what was found, and what to do about it. Each leaf also derives from the built-in
or scikit-learn error that a caller would guess, so `except ValueError` keeps working.
"""

from typing import TYPE_CHECKING, Any

__all__ = [
    "AnacpError",
    "BusyError",
    "DataFileError",
    "DiskError",
    "FeatureStoreError",
    "ImageError",
    "InputError",
    "MismatchError",
    "MissingDataError",
    "ModelFileError",
    "NotLearnedError",
    "NumericalError",
    "ParameterError",
    "RidgeEdgeWarning",
    "TooLargeError",
    "UnavailableError",
    "UncheckedFileWarning",
    "UnknownNameError",
]


class AnacpError(Exception):
    """The root of all errors raised by anacp."""


class InputError(AnacpError, ValueError):
    """Features or labels that cannot be used; the model is unchanged."""


class ImageError(InputError):
    """An image that cannot be read, or several; the message names the files."""

    def __init__(self, message: str = "", place: str = "") -> None:
        super().__init__(message)
        self.place = place  # of the one file


class ParameterError(AnacpError, ValueError):
    """A parameter outside its range."""


class UnknownNameError(AnacpError, ValueError):
    """A name that is not registered; the message offers the nearest one."""


class MismatchError(AnacpError, ValueError):
    """Two things that cannot be combined, such as models with different projections."""


class NumericalError(AnacpError, ArithmeticError):
    """A computation that failed although the input was valid."""


class ModelFileError(AnacpError, ValueError):
    """A model file that is truncated, changed, foreign, inconsistent, or written by a newer version."""


class UnavailableError(AnacpError, RuntimeError):
    """A package or weights that are not here; the message says what to install or download, and where to put it."""


class BusyError(AnacpError, RuntimeError):
    """A file that another process is changing; nothing was done."""


class DiskError(AnacpError, OSError):
    """A file that could not be written; what was there before is untouched, unless the message says otherwise."""


class FeatureStoreError(AnacpError, ValueError):
    """An entry of the feature store that is damaged or written by a newer version."""


class DataFileError(AnacpError, ValueError):
    """A data file that is truncated, foreign, or not laid out as published."""


class TooLargeError(DataFileError):
    """A file, or what it would grow to, beyond a limit; the message has the number and the setting that raises it."""


class MissingDataError(AnacpError, FileNotFoundError):
    """Data or a model that is not on disk; the message says what was looked for, and where."""


class RidgeEdgeWarning(UserWarning):
    """A ridge was chosen from the edge of its grid, so a better one may lie beyond."""


class UncheckedFileWarning(UserWarning):
    """A file of an earlier version, which has no digest of everything: damage to it may go unnoticed."""


if TYPE_CHECKING:
    NotLearnedError: type[AnacpError]


def __getattr__(name: str) -> Any:
    if name != "NotLearnedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError  # slow to import, and few errors are this one

    class NotLearnedError(AnacpError, NotFittedError):  # type: ignore[misc]
        """A question to a model that has learned nothing yet."""

    NotLearnedError.__qualname__ = name
    return globals().setdefault(name, NotLearnedError)
