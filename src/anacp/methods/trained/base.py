"""What every trained method shares: tasks in, one training loop, checkpoints, scores and files."""

from __future__ import annotations

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from anacp.adaptation import Checkpoint, OptimiserPlan, data_identity, optimise, read_pieces
from anacp.backbones import Backbone, known_backbone
from anacp.backbones import backbone as find_backbone
from anacp.catalogue import METHODS, MethodEntry, entry_of
from anacp.encoders import Origin
from anacp.errors import InputError, MismatchError, NotLearnedError, ParameterError
from anacp.files import Fact, TensorFile, write_tensors
from anacp.items import Modality, as_items, content_hash
from anacp.learners import MODEL, StoredPart
from anacp.methods.header import TRAINED, TRAINED_KIND
from anacp.methods.trained.head import grow_head
from anacp.methods.trained.task import Arrived, Stage, State, TaskExamples, sized
from anacp.progress import Progress, Report
from anacp.threads import OwnLock


class TrainedMethod(ABC):
    """Texts or images → predictions, by a network of which something is trained with every task.

    A method gives its constructor with a `plan`, `_stages` and `_scores`, and is decorated with
    `anacp.catalogue.method`. Equal arguments give equal weights, bit for bit on the same machine with the same number
    of threads. Several Python threads may share one; they wait for each other, since what is trained is one network.

    Parameters
    ----------
    backbone : str or Backbone
        The network; most methods need a transformer.
    rate : float
        Learning rate of what is trained inside the network, and of the head where that has none of its own.
    epochs, batch_size : int
        Passes over a task's items, and items a step.
    seed : int
        Decides the first weights, the order of the rows and all that is drawn.
    checkpoints : path, optional
        A folder: a killed `learn` goes on from there.
    """

    plan: OptimiserPlan

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        rate: float,
        epochs: int,
        batch_size: int,
        seed: int,
        checkpoints: str | Path | None,
    ) -> None:
        self.backbone = find_backbone(backbone) if isinstance(backbone, str) else backbone
        self.rate, self.epochs, self.batch_size, self.seed = rate, epochs, batch_size, seed
        self.checkpoints = None if checkpoints is None else Path(checkpoints)
        self._arrived = Arrived()
        self._state: State = {}
        self._spent: list[Checkpoint] = []
        self._turn = OwnLock()
        self.seconds_before = 0.0  # what the last `learn` had spent already before it was killed and went on

    @abstractmethod
    def _stages(self, task: TaskExamples, state: State) -> Generator[Stage, None, None]:
        """Yield the trainings of one task, in order, and leave in `state` what is to be kept.

        Each is finished when the generator goes on. `state` is a copy that already has head rows for new classes.
        """

    @abstractmethod
    def _scores(self, items: Sequence[Any], state: State) -> Tensor:
        """Return the scores of all classes in the order of their arrival."""  # (n, c)

    def _outlines(self, n_classes: int, n_tasks: int) -> dict[str, Tensor]:
        """Return what is kept after so many tasks, without its numbers (`sized`); a file with anything else is refused.

        A method that keeps more than the head adds it.
        """
        width = self.backbone.n_features
        return {"head.weight": sized(n_classes, width), "head.bias": sized(n_classes)}

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes learned so far, sorted."""  # (c,)
        return np.sort(self._arrived.classes)

    @property
    def modality(self) -> Modality:
        """What it takes: "image" or "text"."""
        return self.backbone.modality

    @property
    def origin(self) -> Origin:
        """The backbone that it began with, and can run on alone."""
        return Origin.of(self.backbone)

    def learn(self, examples: Sequence[Any], labels: ArrayLike, *, report: Report | None = None) -> None:
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
        with self._turn:
            self._learn_task(examples, labels, report)

    def _learn_task(self, examples: Sequence[Any], labels: ArrayLike, report: Report | None) -> None:
        if self._arrived.n_tasks and self._entry.joint:
            raise InputError(
                f"Expected all tasks at once, got another: {self._entry.name} has been trained. "
                "Make a new one and give it the examples of all tasks."
            )
        task = self._arrived.with_task(as_items(examples), labels)
        state = {name: tensor.clone() for name, tensor in self._state.items()}
        grow_head(state, len(task.arrived.classes), self.backbone.n_features, self.seed)
        checkpoints = self._train(task, state, report)
        self._arrived, self._state = task.arrived, state
        self.seconds_before = sum((checkpoint.seconds for checkpoint in checkpoints), 0.0)
        for spent in self._spent:  # whoever went on to this task has saved the one before
            spent.path.unlink(missing_ok=True)
        self._spent = checkpoints

    def scores(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return one score for each example and class, in the order of `classes_`; the largest is the prediction."""
        with self._turn, torch.no_grad():
            if not self._arrived.n_tasks:
                raise NotLearnedError(f"This {type(self).__name__} has learned nothing yet. Call `learn` first.")
            scores = self._scores(as_items(examples), self._state).cpu().numpy()
            return np.asarray(scores[:, np.argsort(self._arrived.classes)])

    def predict(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return the label of each example."""
        with self._turn:
            return np.asarray(self.classes_[self.scores(examples).argmax(1)])

    def predict_proba(self, examples: Sequence[Any]) -> NDArray[Any]:
        """Return the softmax of the scores, in the order of `classes_`.

        These probabilities are not calibrated: logits that were never trained against each other, as those of
        different tasks are, need not be on one scale.
        """  # (n, c)
        return torch.from_numpy(self.scores(examples)).softmax(1).numpy()

    def parts(self) -> list[StoredPart]:
        """Return what is stored between tasks, kind by kind."""
        kinds: dict[str, list[Tensor]] = {}
        for name, tensor in self._state.items():
            kinds.setdefault(name.partition(".")[0], []).append(tensor)
        return [
            StoredPart(kind, sum(one.numel() for one in tensors), sum(one.nbytes for one in tensors))
            for kind, tensors in kinds.items()
        ]

    def save(self, path: str | Path) -> None:
        """Write everything that the next task or a prediction needs, all or nothing; the backbone stays outside."""
        with self._turn:
            arrived, state = self._arrived, self._state
        stated = {"kind": TRAINED_KIND, "method": self._entry.name, "parameters": self._parameters()}
        header = stated | {"network": self.origin.header()} | arrived.header()
        write_tensors(path, MODEL, header, state)

    @classmethod
    def load(
        cls,
        path: str | Path | TensorFile,
        *,
        backbone: str | Backbone | None = None,
        checkpoints: str | Path | None = None,
        remote_code: bool = False,
    ) -> Self:
        """Return what `save` wrote, ready to go on with the next task.

        Parameters
        ----------
        path : path
            The file.
        backbone : str or Backbone, optional
            The one it was learned with; else the file's own, if that is known here.
        checkpoints : path, optional
            As in the constructor.
        remote_code : bool
            Run the Python files that come with a backbone given by name, see `anacp.backbones.backbone`.
        """
        file = path if isinstance(path, TensorFile) else TensorFile(path, MODEL)
        header = file.header
        named = header.get("method")
        kind = METHODS.find(named).make if isinstance(named, str) else None
        if kind is None or not (isinstance(kind, type) and issubclass(kind, cls)):
            found = named or header.get("learner") or "another kind of model"
            raise MismatchError(
                f"Expected a saved {cls.__name__}, got {found}: {file.path}. Load it with the class it is of."
            )
        file.check_header(TRAINED)
        arrived = Arrived.restored(file)
        _check_parameters(kind, file)
        origin = Origin.restored(header["network"])
        if backbone is None:
            backbone = known_backbone(origin.name)
        elif isinstance(backbone, str):
            backbone = find_backbone(backbone, remote_code=remote_code)
        origin.check(Origin.of(backbone))
        try:
            model: Self = kind(backbone, checkpoints=checkpoints, **header["parameters"])
            outlines = model._outlines(len(arrived.classes), arrived.n_tasks) if arrived.n_tasks else {}
        except (ParameterError, TypeError, ValueError, RuntimeError) as problem:
            raise file.damage(problem) from problem
        file.check_tensors(outlines)
        model._arrived, model._state = arrived, file.tensors()
        return model

    @property
    def _entry(self) -> MethodEntry:
        entry = entry_of(type(self))
        if entry is None:
            name = type(self).__name__
            raise ParameterError(f"Expected a method of the catalogue, got {name}. Decorate it with `@method()`.")
        return entry

    def _parameters(self) -> dict[str, Any]:
        names = inspect.signature(type(self)).parameters.keys() - {"backbone", "checkpoints"}
        return {name: getattr(self, name) for name in sorted(names)}

    def _train(self, task: TaskExamples, state: State, report: Report | None) -> list[Checkpoint]:
        """Go through the stages of a task, and return their checkpoints."""
        run = self._identity(task) if self.checkpoints else ""
        checkpoints, done = [], 0.0
        for number, stage in enumerate(self._stages(task, state)):
            checkpoint = Checkpoint(self.checkpoints, f"{run}-{number}") if self.checkpoints else None
            checkpoints += [checkpoint] if checkpoint else []
            for step in optimise(
                stage.groups,
                stage.batches or (lambda _, groups: read_pieces(self.backbone, task.items, groups)),
                stage.loss,
                len(task.items) if stage.n_rows is None else stage.n_rows,
                stage.plan,
                self.seed,
                role=f"{type(self).__name__} task {task.index} stage {number}",
                checkpoint=checkpoint,
            ):
                if report is not None:
                    report(Progress(f"{stage.words}: {step}", done + stage.portion * step.share, 1.0))
            done += stage.portion
        return checkpoints

    def _identity(self, task: TaskExamples) -> str:
        """Return a hash of all that decides the weights after this task."""
        stated = [self._entry.name, self._parameters(), self.backbone.fingerprint, self._arrived.classes.tolist()]
        data = data_identity(self.backbone, task.items, task.arrived.classes[task.codes.numpy()])
        kept = (content_hash(name.encode(), tensor.numpy().tobytes()) for name, tensor in sorted(self._state.items()))
        return content_hash(json.dumps([stated, data, *kept], sort_keys=True).encode())


def _check_parameters(kind: type, file: TensorFile) -> None:
    """Refuse parameters that are not the constructor's own, each of the kind that its default is."""
    own = inspect.signature(kind).parameters
    names, stated = own.keys() - {"backbone", "checkpoints"}, file.header["parameters"]
    if stated.keys() ^ names if file.sealed else stated.keys() - names:
        raise file.damage(f"its parameters are not those of {kind.__name__}")
    for name, value in stated.items():
        problem = _like(own[name].default).problem(f"parameters.{name}", value)
        if problem is not None:
            raise file.damage(problem)


def _like(default: Any) -> Fact:
    """Return what a parameter of that default may be."""
    if isinstance(default, bool):
        return Fact.flag()
    if isinstance(default, int):
        return Fact.whole()
    if isinstance(default, float):
        return Fact.share()
    if isinstance(default, tuple):
        return Fact.whole(0).several
    return Fact.text() if isinstance(default, str) else Fact("anything", lambda value: True)
