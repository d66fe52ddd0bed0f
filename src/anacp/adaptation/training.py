"""First-session adaptation: a backbone, labelled items and a recipe in; small matrices out, frozen from then on."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from anacp.adaptation.adaptation import Adaptation
from anacp.adaptation.examples import check_task, data_identity, read_pieces
from anacp.adaptation.loop import Checkpoint, TrainingStep, cross_entropy, optimise
from anacp.adaptation.parts import Parts, uniform
from anacp.adaptation.plan import RECIPES, Group, Recipe
from anacp.backbones import Backbone, PooledNetwork
from anacp.items import as_items, content_hash
from anacp.progress import Progress, Report


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves: the adaptation, and the head that was trained with it."""

    adaptation: Adaptation
    weight: NDArray[np.float32]  # (c, d)
    bias: NDArray[np.float32]  # (c,)
    classes: NDArray[Any]  # (c,) sorted
    seconds: float  # that it took in all, also where it was found in a checkpoint


def train(
    backbone: Backbone,
    items: Sequence[Any],
    labels: ArrayLike,
    *,
    recipe: str | Recipe,
    seed: int = 0,
    checkpoints: str | Path | None = None,
) -> Generator[TrainingStep, None, Trained]:
    """Yield progress while parts of a backbone and a linear head are trained; the generator's value is the result.

    The backbone itself does not change. Equal arguments give equal weights, bit for bit on the same machine with the
    same number of threads.

    Parameters
    ----------
    backbone : Backbone
        A transformer.
    items : sequence
        Texts, or paths and Pillow images.
    labels : array-like
        One label per item, of any type.
    recipe : str or Recipe
        What is trained and how; `RECIPES` has the named ones.
    seed : int
        Decides the first weights and the order of the rows; the class order is the scenario's.
    checkpoints : path, optional
        A folder: the state after every epoch is kept there, a killed training goes on from it, and a finished one is
        not repeated.

    Raises
    ------
    MismatchError
        If the backbone is not a transformer.
    NumericalError
        If the loss is no longer finite.
    """
    recipe = RECIPES.find(recipe) if isinstance(recipe, str) else recipe
    items, device = as_items(items), backbone.device
    classes, codes = check_task(items, labels)
    begun = Adaptation(recipe, seed, backbone.fingerprint, data_identity(backbone, items, classes[codes]), {})
    run = content_hash(json.dumps(begun.header(), sort_keys=True).encode())  # of all that decides the weights
    network = backbone.module()
    parts = Parts.inside(network, recipe, seed)
    pooled = PooledNetwork(network, backbone.preset.pooling).to(device).eval()
    head = _first_head(backbone.n_features, len(classes), seed, device)
    targets = torch.from_numpy(codes).to(device)
    seconds = yield from optimise(
        [Group(head, recipe.head_rate), Group(parts.parameters, recipe.parts_rate)],
        lambda _, batches: read_pieces(backbone, items, batches),
        lambda rows, inputs: cross_entropy(F.linear(pooled(*inputs), *head.values()), targets[rows]),
        len(items),
        recipe.plan,
        seed,
        checkpoint=None if checkpoints is None else Checkpoint(Path(checkpoints), run),
    )
    weight, bias = (parameter.detach().cpu().numpy() for parameter in head.values())
    return Trained(replace(begun, tensors=parts.tensors()), weight, bias, classes, seconds)


def adapt(
    backbone: Backbone,
    items: Sequence[Any],
    labels: ArrayLike,
    *,
    recipe: str | Recipe,
    seed: int = 0,
    checkpoints: str | Path | None = None,
    report: Report | None = None,
) -> Adaptation:
    """Adapt a backbone to the first task; `apply` of what is returned gives the adapted backbone. See `train`.

    The head that was trained along is discarded. The tasks that follow must all use the adapted backbone as it is:
    another adaptation would change the features that a learner remembers.
    """
    steps = train(backbone, items, labels, recipe=recipe, seed=seed, checkpoints=checkpoints)
    return finished(steps, report).adaptation


def finished(steps: Generator[TrainingStep, None, Trained], report: Report | None = None) -> Trained:
    """Run what `train` returned to its end, and return its value."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            trained: Trained = end.value
            return trained
        if report is not None:
            report(Progress(f"adapting the backbone: {step}", step.share, 1.0))


def _first_head(n_features: int, n_classes: int, seed: int, device: str) -> dict[str, Tensor]:
    weight = uniform((n_classes, n_features), n_features, seed, "adaptation head")
    bias = uniform((n_classes,), n_features, seed, "adaptation head bias")
    return {"head.weight": weight.to(device).requires_grad_(True), "head.bias": bias.to(device).requires_grad_(True)}
