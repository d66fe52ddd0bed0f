"""How large what comes from outside may be: known before it is allocated, refused with the number and the setting."""

import os
from dataclasses import dataclass

from anacp.errors import ParameterError, TooLargeError
from anacp.words import format_bytes

LARGEST_RATIO = 10  # what an archive of images or features may grow to beside its own size; theirs is below 2


@dataclass(frozen=True)
class Limit:
    """A number, and the environment variable that raises it."""

    setting: str
    default: int
    of: str  # what it is a limit of, as the documentation says it
    unit: str = "bytes"

    @property
    def value(self) -> int:
        """The number that holds now."""
        stated = os.environ.get(self.setting)
        if not stated:
            return self.default
        try:
            number = int(stated.replace("_", "").replace(",", ""))
        except ValueError:
            number = 0
        if number <= 0:
            raise ParameterError(f"Expected a whole number of {self.unit} in {self.setting}, got {stated!r}.")
        return number

    @property
    def is_stated(self) -> bool:
        """Whether somebody has said the number, rather than left it."""
        return bool(os.environ.get(self.setting))

    def check(self, size: int, what: str, *, limit: int | None = None) -> None:
        """Refuse `what`, a file by its name, if it is larger; `limit` where something raises the number already."""
        if size > (self.value if limit is None else limit):
            raise self.exceeded(self.shown(size), what, limit=limit)

    def check_growth(self, size: int, from_size: int, what: str) -> None:
        """Refuse what grows out of a file of another size, unless it is in proportion to it."""
        self.check(size, what, limit=self.for_growth(from_size))

    def for_growth(self, from_size: int) -> int:
        """Return how large the contents of a compressed file of some size may be."""
        return max(self.value, LARGEST_RATIO * from_size)

    def exceeded(self, got: str, what: str, *, limit: int | None = None) -> TooLargeError:
        """Return the error for what is too large."""
        allowed = self.shown(self.value if limit is None else limit)
        return TooLargeError(
            f"Expected at most {allowed}, got {got}: {what}. If you trust it, raise the limit: "
            f"set {self.setting} to a number of {self.unit}."
        )

    def shown(self, size: int) -> str:
        """Return a size in words."""
        return format_bytes(size) if self.unit == "bytes" else f"{size:,} {self.unit}"


MAX_PIXELS = Limit("ANACP_MAX_PIXELS", 89_478_485, "one image, before it is decoded", "pixels")  # Pillow's own
MAX_FILE = Limit("ANACP_MAX_FILE_BYTES", 200_000_000, "one file that is read whole: an image, or one in an archive")
MAX_EXPANDED = Limit(
    "ANACP_MAX_EXPANDED_BYTES",
    1_000_000_000,
    "what a compressed tar or npz file grows to; ten times the file itself where that is more",
)
MAX_TABLE = Limit("ANACP_MAX_TABLE_BYTES", 2_000_000_000, "a CSV or JSON Lines file")
MAX_DOCUMENT = Limit("ANACP_MAX_DOCUMENT_BYTES", 100_000_000, "a JSON or TOML document")
LIMITS = (MAX_PIXELS, MAX_FILE, MAX_EXPANDED, MAX_TABLE, MAX_DOCUMENT)
