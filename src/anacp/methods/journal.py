"""The steps by which a model became what it is: what, when, how many, from where, and what takes each back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from anacp.errors import InputError
from anacp.files import TensorFile
from anacp.methods.moves import Moves
from anacp.methods.taking_back import KINDS, Renamed, Undo, restored_undo

if TYPE_CHECKING:
    from anacp.methods.taught import Taught

What = Literal["learn", "forget", "merge", "relabel", "rename", "join"]

JOURNAL = "journal."  # what the names of its tensors begin with in a model file
PLACES = {"steps": JOURNAL, "undone": f"{JOURNAL}undone."}  # those of each list of steps
# Steps that are listed, and what may be kept to take them back: about 3,000 photos or 10,000 texts, or as much as the
# model itself if that is more. The oldest give way.
MOST_STEPS, MOST_BYTES = 100, 2**24


@dataclass(frozen=True, eq=False)
class Step:
    """One change of a model."""

    what: What
    when: str
    n: int  # examples that it touched
    classes: tuple[Any, ...]  # that it touched
    source: str | None = None  # from where, as it was named
    undo: Undo | None = None  # None: it cannot be taken back any more

    @classmethod
    def now(cls, what: What, n: int, classes: Sequence[Any], source: object, undo: Undo | None) -> Step:
        """Return a step that is taken now."""
        when = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(what, when, n, tuple(classes), None if source is None else str(source)[:200], undo)

    def stated(self) -> dict[str, Any]:
        """Return what the header of a file says of it."""
        undo, kind = self.undo, None if self.undo is None else KINDS[type(self.undo)]
        labels = [undo.old, undo.new] if isinstance(undo, Renamed) else []
        labels = undo.labels.tolist() if isinstance(undo, Moves) else labels
        facts = {"what": self.what, "when": self.when, "n": self.n, "source": self.source}
        return facts | {"classes": list(self.classes), "undo": kind, "labels": labels}

    def undone(self, taught: Taught) -> Taught:
        """Return what was taught before this step."""
        if self.undo is None:
            raise InputError(
                f"Expected a step that can be taken back, got `{self.what}` of {self.when}: what that needs was too "
                f"large to be kept, or was given up. Learn or forget the examples themselves."
            )
        return self.undo.undone(taught)

    def reversed(self, taught: Taught) -> Step:
        """Return the same step with what takes back that it is undone now."""
        return replace(self, undo=self.undo and self.undo.reversed(taught))


@dataclass(frozen=True, eq=False)
class Journal:
    """The latest steps, oldest first; a value."""

    steps: tuple[Step, ...] = ()
    n_earlier: int = field(default=0)  # steps that are no longer listed
    undone: tuple[Step, ...] = ()  # that can be taken again, the next one last: with what takes their undoing back

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def plus(self, step: Step, *, model_bytes: int = 0) -> Journal:
        """Return the journal with one more step; what takes the oldest back is given up if all is too much."""
        steps, room = (*self.steps, step)[-MOST_STEPS:], max(MOST_BYTES, model_bytes)
        kept: list[Step] = []
        for one in reversed(steps):
            room -= one.undo.nbytes if one.undo is not None else room + 1  # nothing before it can be taken back
            kept.append(one if room >= 0 else replace(one, undo=None))
        return Journal(tuple(reversed(kept)), self.n_earlier + len(self.steps) + 1 - len(steps))

    def without_undo(self) -> Journal:
        """Return the same steps, with nothing kept by which one could be taken back or again."""
        return replace(self, steps=tuple(replace(step, undo=None) for step in self.steps), undone=())

    def back(self, undone: Step) -> Journal:
        """Return the journal without the last step, which was undone."""
        return replace(self, steps=self.steps[:-1], undone=(*self.undone, undone))

    def again(self, redone: Step) -> Journal:
        """Return the journal with the step that was undone last."""
        return replace(self, steps=(*self.steps, redone), undone=self.undone[:-1])

    # Files ------------------------------------------------------------------------------------------------------

    def stated(self) -> dict[str, Any]:
        """Return what the header of a model file says."""
        undone = {"undone": [step.stated() for step in self.undone]} if self.undone else {}
        return {"n_earlier": self.n_earlier, "steps": [step.stated() for step in self.steps], **undone}

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors of a model file."""
        return {
            f"{place}{number}.{name}": one
            for part, place in PLACES.items()
            for number, step in enumerate(getattr(self, part))
            if step.undo is not None
            for name, one in step.undo.tensors().items()
        }

    @staticmethod
    def outlines(file: TensorFile) -> dict[str, Tensor]:
        """Return the tensors that there must be by what the checked header says, without numbers."""
        stated = file.header.get("journal", {})
        expected: dict[str, Tensor] = {}
        for part, place in PLACES.items():
            for number, step in enumerate(stated.get(part, [])):
                name = f"{place}{number}."
                expected |= {f"{name}{own}": one for own, one in _outlines(file, name, step["undo"]).items()}
        return expected

    @classmethod
    def restored(cls, file: TensorFile) -> Journal:
        """Return the journal of a file whose header and tensors were checked; files before had none."""
        stated: Mapping[str, Any] = file.header.get("journal", {"n_earlier": 0, "steps": []})
        steps, undone = (_steps(file, place, stated.get(part, [])) for part, place in PLACES.items())
        return cls(steps, stated["n_earlier"], undone)


def _outlines(file: TensorFile, name: str, undo: str | None) -> dict[str, Tensor]:
    sizes = file.sizes(name)
    if undo == "examples":
        return Moves.outlines(sizes["rows"][0] if sizes.get("rows") else 0, file.header["n_features"])
    if undo == "model":
        size = sizes["model"] if len(sizes.get("model", ())) == 1 else (0,)
        return {"model": torch.empty(size, dtype=torch.uint8, device="meta")}
    return {}


def _steps(file: TensorFile, place: str, stated: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    steps = []
    for number, facts in enumerate(stated):
        try:
            undo = restored_undo(facts["undo"], file.arrays(f"{place}{number}."), facts["labels"])
        except (TypeError, ValueError) as problem:
            raise file.damage(f"step {number} of its journal is not whole: {problem}") from problem
        said = {name: facts[name] for name in ("what", "when", "n", "source")}
        steps.append(Step(**said, classes=tuple(facts["classes"]), undo=undo))
    return tuple(steps)
