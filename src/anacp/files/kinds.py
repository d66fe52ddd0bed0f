"""What files of tensors there are."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FileKind:
    """What a file is, and up to which version it can be read."""

    format: str  # as its metadata says it
    version: int
    title: str  # as messages say it, with its article
    sealed_since: int = 2  # the first version that has a digest of everything; earlier ones are read with a warning
    noted: bool = True  # whether that warning is given: not where files are many, and can be made anew
    plain: bool = False  # metadata are texts, for readers other than this one, instead of JSON
