"""What takes a step back: the examples that it moved, the name before, or all statistics as they were."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.files import TensorFile, write_tensors
from anacp.learners import MODEL, contents, restored
from anacp.methods.finding import learner_class
from anacp.methods.learned_examples import EXAMPLES, LearnedExamples
from anacp.methods.moves import Moves

if TYPE_CHECKING:
    from anacp.methods.taught import Taught


@dataclass(frozen=True, eq=False)
class Renamed:
    """A class that was called otherwise."""

    old: Any
    new: Any
    nbytes: int = 0

    def undone(self, taught: Taught) -> Taught:
        """Return what was taught under the name before."""
        return taught.renamed(self.new, self.old)

    def reversed(self, taught: Taught) -> Renamed:
        """Return what takes that back."""
        return Renamed(self.new, self.old)

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

    def reversed(self, taught: Taught) -> Before:
        """Return what takes that back: all statistics as they are now."""
        return Before(taught)

    def tensors(self) -> dict[str, Tensor]:
        """Return the bytes."""
        return {"model": torch.from_numpy(self.content)}


Undo = Moves | Renamed | Before
KINDS: dict[type, str] = {Moves: "examples", Renamed: "names", Before: "model"}


def restored_undo(kind: str | None, arrays: Mapping[str, NDArray[Any]], labels: list[Any]) -> Undo | None:
    """Return what takes a step back as a file has it; a ValueError or TypeError says what cannot be."""
    if kind is None:
        return None
    if kind == "names":
        old, new = labels
        return Renamed(old, new)
    return Moves.restored(arrays, labels) if kind == "examples" else Before(None, arrays["model"])
