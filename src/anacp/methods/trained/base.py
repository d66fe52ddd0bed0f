"""What every trained method shares: tasks in, one training loop, checkpoints, scores and files."""

from __future__ import annotations

import hashlib
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from anacp.adaptation.checkpoint import Checkpoint
from anacp.adaptation.loop import Piece, optimise
from anacp.adaptation.training import check_examples, data_identity, read_pieces
from anacp.backbones import Backbone
from anacp.backbones import backbone as find_backbone
from anacp.backbones.readahead import read_ahead
from anacp.errors import InputError, MismatchError, NotLearnedError
from anacp.files import TensorFile, write_file
from anacp.learners.inputs import Labels, label_kind
from anacp.learners.keeping import MODEL
from anacp.learners.summary import Part
from anacp.methods.given import as_items
from anacp.methods.method import Progress
from anacp.methods.origin import Origin
from anacp.methods.trained.head import grow_head
from anacp.methods.trained.registry import trained
from anacp.methods.trained.stage import Stage, State, TaskExamples

__all__ = ["TrainedMethod"]

PIECE = 32  # rows that are scored together


class TrainedMethod(ABC):
    """Texts or images → predictions, by a network of which something is trained with every task.

    A method gives its constructor, `_stages` and `_scores`. Equal arguments give equal weights, bit for bit on the
    same machine with the same number of threads.
    """

    joint: ClassVar[bool] = False  # learns all tasks at once, and nothing afterwards

    def __init__(self, backbone: str | Backbone, *, seed: int, checkpoints: str | Path | None) -> None:
        self.backbone = find_backbone(backbone) if isinstance(backbone, str) else backbone
        self.seed = seed
        self.checkpoints = None if checkpoints is None else Path(checkpoints)
        self._arrived: Labels = np.empty(0, np.str_)  # (c,) classes in the order of their arrival
        self._task_of = torch.empty(0, dtype=torch.int64)  # (c,)
        self._n_tasks = 0
        self._state: State = {}
        self._spent: list[Path] = []
        self.seconds_before = 0.0

    @abstractmethod
    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        """Yield the trainings of one task, in order, and leave in `state` what is to be kept.

        Each is finished when the generator goes on. `state` is a copy that already has head rows for new classes.
        """

    @abstractmethod
    def _scores(self, items: Sequence[Any], state: State) -> Tensor:
        """Return the scores of all classes in the order of their arrival."""  # (n, c)

    @property
    def classes_(self) -> Labels:
        """The classes learned so far, sorted."""  # (c,)
        return np.sort(self._arrived)

    def learn(self, examples: Sequence[Any], labels: ArrayLike, *, progress: Progress | None = None) -> None:
        """Learn one task: texts, or paths and Pillow images, with one label each.

        Either the whole task is learned or nothing changes. With `checkpoints`, the state after every epoch is kept
        there: the same call after a kill goes on from it, to the same weights.

        Raises
        ------
        InputError
            If examples and labels do not fit, or the task has only one class.
        NumericalError
            If the loss is no longer finite.
        """
        task, arrived = self._task(as_items(examples), labels)
        state = {name: tensor.clone() for name, tensor in self._state.items()}
        grow_head(state, len(arrived), self.backbone.n_features, self.seed)
        run = self._identity(task, arrived) if self.checkpoints else ""
        written, done, seconds_before = [], 0.0, 0.0
        for number, stage in enumerate(self._stages(task, state)):
            checkpoint = Checkpoint(self.checkpoints, f"{run}-{number}") if self.checkpoints else None
            for step in optimise(
                stage.groups,
                stage.batches or (lambda _, groups: self._read(task.items, groups)),
                stage.loss,
                len(task.items) if stage.n_rows is None else stage.n_rows,
                stage.plan,
                self.seed,
                role=f"{type(self).__name__} task {task.index} stage {number}",
                checkpoint=checkpoint,
            ):
                if progress is not None:
                    share = (step.epoch - 1 + step.step / step.n_steps) / step.n_epochs
                    told = f"epoch {step.epoch} of {step.n_epochs}, loss {step.loss:.3f}, {step.accuracy:.1f} % right"
                    progress(done + stage.portion * share, f"{stage.words}: {told}")
            done += stage.portion
            if checkpoint:
                written.append(checkpoint.path)
                seconds_before += checkpoint.seconds
        self._arrived, self._task_of, self._n_tasks, self._state = arrived, task.task_of, task.index + 1, state
        self.seconds_before = seconds_before
        for path in self._spent:  # whoever went on to this task has saved the one before
            path.unlink(missing_ok=True)
        self._spent = written

    def scores(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return one score for each example and class, in the order of `classes_`; the largest is the prediction."""
        if not self._n_tasks:
            raise NotLearnedError(f"This {type(self).__name__} has learned nothing yet. Call `learn` first.")
        items = as_items(examples)
        with torch.no_grad():
            scores = self._scores(items, self._state).cpu().numpy()
        return np.asarray(scores[:, np.argsort(self._arrived)])

    def predict(self, examples: Sequence[Any]) -> Labels:
        """Return the label of each example."""
        return np.asarray(self.classes_[self.scores(examples).argmax(1)])

    def parts(self) -> list[Part]:
        """Return what is stored between tasks, kind by kind."""
        kinds: dict[str, list[Tensor]] = {}
        for name, tensor in self._state.items():
            kinds.setdefault(name.partition(".")[0], []).append(tensor)
        return [
            Part(kind, sum(one.numel() for one in tensors), sum(one.nbytes for one in tensors))
            for kind, tensors in kinds.items()
        ]

    def save(self, path: str | Path) -> None:
        """Write everything that the next task or a prediction needs, all or nothing; the backbone stays outside."""
        header = {
            "method": type(self).__name__,
            "parameters": self._parameters(),
            "network": asdict(Origin.of(self.backbone)),
            "classes": self._arrived.tolist(),
            "classes_dtype": self._arrived.dtype.str,
            "task_of": self._task_of.tolist(),
            "n_tasks": self._n_tasks,
        }
        write_file(path, MODEL, header, self._state)

    @classmethod
    def load(cls, path: str | Path, *, backbone: Backbone | None = None, checkpoints: str | Path | None = None) -> Self:
        """Return what `save` wrote, ready to go on with the next task.

        Parameters
        ----------
        path : path
            The file.
        backbone : Backbone, optional
            The one it was learned with; else it is found by its name.
        checkpoints : path, optional
            As in the constructor.
        """
        file = TensorFile(path, MODEL)
        header = file.header
        kind = trained(header["method"]) if "method" in header else None
        if kind is None or not issubclass(kind, cls):
            found = header.get("method") or header.get("learner") or "another kind of model"
            raise MismatchError(
                f"Expected a saved {cls.__name__}, got {found}: {path}. Load it with the class it is of."
            )
        origin = Origin(**header["network"])
        backbone = find_backbone(origin.name) if backbone is None else backbone
        origin.check(Origin.of(backbone))
        model: Self = kind(backbone, checkpoints=checkpoints, **header["parameters"])
        model._arrived = np.array(header["classes"], np.dtype(header["classes_dtype"]))
        model._task_of = torch.tensor(header["task_of"], dtype=torch.int64)
        model._n_tasks, model._state = header["n_tasks"], file.tensors()
        return model

    def _read(self, items: Sequence[Any], groups: list[list[int]]) -> Iterable[list[Piece]]:
        reader = self.backbone.reader
        return read_ahead(lambda rows: read_pieces(self.backbone, items, rows), groups, workers=reader.workers)

    def _outputs(
        self, items: Sequence[Any], width: int, forward: Callable[[list[int], tuple[Tensor, ...]], Tensor]
    ) -> Tensor:
        """Return forward(rows, inputs) of all items, computed in pieces without gradients."""  # (n, width)
        outputs = torch.empty(len(items), width)
        order = self.backbone.reader.order(items)
        groups = [order[start : start + PIECE] for start in range(0, len(order), PIECE)]
        with torch.no_grad():
            for pieces in self._read(items, groups):
                for rows, arrays in pieces:
                    inputs = tuple(torch.from_numpy(array).to(self.backbone.device) for array in arrays.values())
                    outputs[rows] = forward(rows, inputs).cpu()
        return outputs

    def _task(self, items: list[Any], labels: ArrayLike) -> tuple[TaskExamples, Labels]:
        if self.joint and self._n_tasks:
            raise InputError(
                f"Expected all tasks at once, got another: {type(self).__name__} has been trained. "
                "Make a new one and give it the examples of all tasks."
            )
        classes, codes = check_examples(items, labels)
        if self._n_tasks and label_kind(classes) != label_kind(self._arrived):
            raise InputError(
                f"Expected labels of the kind learned before, {label_kind(self._arrived)}, got {label_kind(classes)}. "
                "Convert them first."
            )
        new = classes[~np.isin(classes, self._arrived)]
        arrived = np.concatenate([self._arrived, new]) if self._n_tasks else new
        place_of = {label: place for place, label in enumerate(arrived.tolist())}
        places = torch.tensor([place_of[label] for label in classes.tolist()])
        task_of = torch.cat([self._task_of, torch.full((len(new),), self._n_tasks)])
        return TaskExamples(
            self._n_tasks, items, places[torch.from_numpy(codes)], places.sort().values, task_of
        ), arrived

    def _parameters(self) -> dict[str, Any]:
        names = inspect.signature(type(self).__init__).parameters.keys() - {"self", "backbone", "checkpoints"}
        return {name: getattr(self, name) for name in sorted(names)}

    def _identity(self, task: TaskExamples, arrived: Labels) -> str:
        """Return a hash of all that decides the weights after this task."""
        stated = [type(self).__name__, self._parameters(), self.backbone.fingerprint, self._arrived.tolist()]
        digest = hashlib.blake2b(json.dumps(stated, sort_keys=True).encode(), digest_size=16)
        digest.update(data_identity(self.backbone, task.items, arrived[task.codes.numpy()]).encode())
        for name in sorted(self._state):
            digest.update(name.encode() + self._state[name].contiguous().numpy().tobytes())
        return digest.hexdigest()
