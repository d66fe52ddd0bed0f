"""Which column of a table is which: by what a person says, or by the names that people give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anacp.errors import DataFileError
from anacp.names import nearest

Role = Literal["text", "label", "path", "split"]
# In any capitals, and whatever stands between their words; the first that a table has is meant.
USUAL: dict[Role, tuple[str, ...]] = {
    "text": (
        *("text", "texts", "sentence", "utterance", "query", "message", "content", "document", "review", "question"),
        *("comment", "body", "phrase", "input"),
    ),
    "label": ("label", "labels", "class", "classname", "category", "intent", "target", "tag", "topic", "species", "y"),
    "path": (
        *("path", "file", "filename", "filepath", "image", "imagepath", "imagefile", "img", "photo", "picture"),
        *("paths", "files", "images", "photos"),
    ),
    "split": ("split",),
}


@dataclass(frozen=True)
class Columns:
    """What a person says of the columns; None where they are to be found."""

    text: str | None = None
    label: str | None = None
    path: str | None = None

    def find(self, role: Role, columns: Sequence[str], place: str) -> str | None:
        """Return the column of a role, if there is one; one that is stated must be there."""
        stated = getattr(self, role, None)
        if stated is not None:
            wanted = next((name for name in columns if name == stated), None) or _folded(columns).get(_fold(stated))
            if wanted is None:
                near = nearest(stated, columns)
                hint = f"Did you mean {near!r}?" if near else f"Give --{role}-column another of them."
                raise DataFileError(f"Expected a column {stated!r} in {place}, got {_shown(columns)}. {hint}")
            return wanted
        named = _folded(columns)
        return next((named[usual] for usual in USUAL[role] if usual in named), None)

    def source(self, columns: Sequence[str], place: str, modality: str | None) -> tuple[Literal["text", "path"], str]:
        """Return the column of what is to be learned or named, and whether it has texts or paths of images."""
        text, path = self.find("text", columns, place), self.find("path", columns, place)
        for role, stated, of in (("text", self.text, "text"), ("path", self.path, "image")):
            found = text if role == "text" else path
            other = self.path if role == "text" else self.text
            if found is not None and (stated is not None or (other is None and modality == of)):
                return ("text", found) if role == "text" else ("path", found)
        if text is not None and path is not None:
            raise DataFileError(
                f"Expected texts or paths of images in {place}, got a column of each: {text!r} and {path!r}. "
                f"Say which is meant: --text-column {text!r} or --path-column {path!r}."
            )
        if text is not None:
            return "text", text
        if path is not None:
            return "path", path
        role = "path" if modality == "image" else "text"
        raise self.missing(role, columns, place)  # type: ignore[arg-type]

    def missing(self, role: Role, columns: Sequence[str], place: str) -> DataFileError:
        """Return the error for a column that is not found, with the one that is probably meant."""
        others: tuple[Role, ...] = ("text", "label", "path", "split")
        taken = {self.find(other, columns, place) for other in others if other != role}
        free = [name for name in columns if name not in taken and name.strip()]
        near = next((hit for usual in USUAL[role] if (hit := nearest(usual, free))), None)
        meant = near or (free[0] if len(free) == 1 else None)
        option = f"--{role}-column"
        hint = f"If {meant!r} is meant, say {option} {meant!r}." if meant else f"Say which is meant: {option} NAME."
        usual = ", ".join(USUAL[role][:5])
        return DataFileError(
            f"Expected a column of {role}s in {place}, by a name such as {usual}, got {_shown(columns)}. {hint}"
        )


def _folded(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns by their names without capitals and marks, the first of each."""
    return {_fold(name): name for name in reversed(columns)}


def _fold(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _shown(columns: Sequence[str]) -> str:
    return ", ".join(columns) or "none"
