"""The steps by which a model became what it is: what, when, how many, from where, and what takes each back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.errors import InputError
from anacp.files import TensorFile, write_tensors
from anacp.learners import MODEL, contents, restored
from anacp.methods.finding import learner_class
from anacp.methods.learned_examples import EXAMPLES, LearnedExamples
from anacp.methods.moves import Moves

if TYPE_CHECKING:
    from anacp.methods.taught import Taught

What = Literal["learn", "forget", "merge", "relabel", "rename", "join"]

JOURNAL = "journal."  # what the names of its tensors begin with in a model file
# Steps that are listed, and what may be kept to take them back: about 3,000 photos or 10,000 texts, or as much as the
# model itself if that is more. The oldest give way.
MOST_STEPS, MOST_BYTES = 100, 2**24


@dataclass(frozen=True, eq=False)
class Renamed:
    """A class that was called otherwise."""

    old: Any
    new: Any
    nbytes: int = 0

    def undone(self, taught: Taught) -> Taught:
        """Return what was taught under the name before."""
        return taught.renamed(self.new, self.old)

    def tensors(self) -> dict[str, Tensor]:
        """Return nothing: the names are the step's own."""
        return {}


class Before:
    """All statistics as they were, for what no examples at hand could take back; in a file, the bytes of a file."""

    def __init__(self, taught: Taught | None, content: NDArray[np.uint8] | None = None) -> None:
        self._taught, self._content = taught, content

    @property
    def nbytes(self) -> int:
        """What a file needs for them, at most."""
        if self._content is not None:
            return self._content.nbytes
        assert self._taught is not None
        return self._taught.nbytes

    @cached_property
    def content(self) -> NDArray[np.uint8]:
        """What was taught, as a file keeps it."""
        if self._content is not None:
            return self._content
        assert self._taught is not None
        header, tensors = contents(self._taught.learner, exact=False, solution=False)
        examples = self._taught.examples.tensors(self._taught.classes.tolist())
        tensors |= {f"{EXAMPLES}{name}": one for name, one in examples.items()}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "before"
            write_tensors(path, MODEL, {"kind": "learner", **header}, tensors)
            return np.frombuffer(path.read_bytes(), np.uint8).copy()

    def undone(self, taught: Taught) -> Taught:
        """Return what was taught then."""
        if self._taught is not None:
            return replace(self._taught, journal=taught.journal)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "before"
            path.write_bytes(self.content.tobytes())
            file = TensorFile(path, MODEL)  # stays readable when it is gone
            outlines = LearnedExamples.outlines(file, len(file.header.get("classes", ())))
            learner = restored(learner_class(file), file, device=taught.learner.device, outlines=outlines)
            examples = LearnedExamples.restored(learner.classes_.tolist(), file)
        return replace(taught, learner=learner, examples=examples)

    def tensors(self) -> dict[str, Tensor]:
        """Return the bytes."""
        return {"model": torch.from_numpy(self.content)}


Undo = Moves | Renamed | Before
KINDS: dict[type, str] = {Moves: "examples", Renamed: "names", Before: "model"}


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
        return taught.moved(self.undo.back()) if isinstance(self.undo, Moves) else self.undo.undone(taught)


@dataclass(frozen=True, eq=False)
class Journal:
    """The latest steps, oldest first; a value."""

    steps: tuple[Step, ...] = ()
    n_earlier: int = field(default=0)  # steps that are no longer listed

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
        """Return the same steps, with nothing kept by which one could be taken back."""
        return replace(self, steps=tuple(replace(step, undo=None) for step in self.steps))

    def before_last(self) -> Journal:
        """Return the journal without the last step."""
        return replace(self, steps=self.steps[:-1])

    # Files ------------------------------------------------------------------------------------------------------

    def stated(self) -> dict[str, Any]:
        """Return what the header of a model file says."""
        return {"n_earlier": self.n_earlier, "steps": [step.stated() for step in self.steps]}

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors of a model file."""
        undos = ((number, step.undo) for number, step in enumerate(self.steps) if step.undo is not None)
        return {f"{JOURNAL}{number}.{name}": one for number, undo in undos for name, one in undo.tensors().items()}

    @staticmethod
    def outlines(file: TensorFile) -> dict[str, Tensor]:
        """Return the tensors that there must be by what the checked header says, without numbers."""
        expected: dict[str, Tensor] = {}
        for number, step in enumerate(file.header.get("journal", {}).get("steps", [])):
            name, sizes = f"{JOURNAL}{number}.", file.sizes(f"{JOURNAL}{number}.")
            parts: dict[str, Tensor] = {}
            if step["undo"] == "examples":
                parts = Moves.outlines(sizes["rows"][0] if sizes.get("rows") else 0, file.header["n_features"])
            elif step["undo"] == "model":
                size = sizes["model"] if len(sizes.get("model", ())) == 1 else (0,)
                parts = {"model": torch.empty(size, dtype=torch.uint8, device="meta")}
            expected |= {f"{name}{part}": one for part, one in parts.items()}
        return expected

    @classmethod
    def restored(cls, file: TensorFile) -> Journal:
        """Return the journal of a file whose header and tensors were checked; files before had none."""
        stated: Mapping[str, Any] = file.header.get("journal", {"n_earlier": 0, "steps": []})
        steps = []
        for number, facts in enumerate(stated["steps"]):
            try:
                undo = _undo(facts["undo"], file.arrays(f"{JOURNAL}{number}."), facts["labels"])
            except (TypeError, ValueError) as problem:
                raise file.damage(f"step {number} of its journal is not whole: {problem}") from problem
            said = {name: facts[name] for name in ("what", "when", "n", "source")}
            steps.append(Step(**said, classes=tuple(facts["classes"]), undo=undo))
        return cls(tuple(steps), stated["n_earlier"])


def _undo(kind: str | None, arrays: Mapping[str, NDArray[Any]], labels: list[Any]) -> Undo | None:
    if kind is None:
        return None
    if kind == "names":
        old, new = labels
        return Renamed(old, new)
    return Moves.restored(arrays, labels) if kind == "examples" else Before(None, arrays["model"])
