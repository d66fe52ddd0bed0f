"""Training: a backbone, labelled items and a recipe in; small matrices out, with progress on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from anacp.adaptation.adaptation import Adaptation
from anacp.adaptation.adapters import empty_linear
from anacp.adaptation.checkpoint import Checkpoint
from anacp.adaptation.loop import Piece, Progress, cross_entropy, optimise
from anacp.adaptation.parts import Parts, uniform
from anacp.adaptation.plan import Group
from anacp.adaptation.recipes import Recipe
from anacp.adaptation.recipes import recipe as find_recipe
from anacp.backbones import Backbone
from anacp.backbones.network import PooledNetwork
from anacp.backbones.readahead import read_ahead
from anacp.errors import InputError
from anacp.features.identity import common_folder, item_digests

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Trained", "check_examples", "data_identity", "read_pieces", "train"]

PIECE = 16  # large enough for full speed, small enough for texts of like length


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves: the adaptation, and the head that was trained with it."""

    adaptation: Adaptation
    weight: NDArray[np.float32]  # (c, d)
    bias: NDArray[np.float32]  # (c,)
    classes: NDArray[Any]  # (c,) sorted


def train(
    backbone: Backbone,
    items: Sequence[str | Path | Image],
    labels: ArrayLike,
    *,
    recipe: str | Recipe,
    seed: int = 0,
    checkpoints: str | Path | None = None,
) -> Generator[Progress, None, Trained]:
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
    recipe = find_recipe(recipe) if isinstance(recipe, str) else recipe
    classes, codes = check_examples(items, labels)
    data = data_identity(backbone, items, classes[codes])
    network = backbone.module()
    parts = Parts.inside(network, recipe, seed)
    head = empty_linear(backbone.n_features, len(classes), bias=True)
    with torch.no_grad():
        head.weight.copy_(uniform(head.weight, backbone.n_features, seed, "adaptation head"))
        head.bias.copy_(uniform(head.bias, backbone.n_features, seed, "adaptation head bias"))
    pooled = PooledNetwork(network, backbone.preset.pooling).to(backbone.device).eval()
    run = {"recipe": asdict(recipe), "seed": seed, "base": backbone.fingerprint, "data": data}
    name = hashlib.blake2b(json.dumps(run, sort_keys=True).encode(), digest_size=16).hexdigest()
    checkpoint = Checkpoint(Path(checkpoints), name) if checkpoints is not None else None

    head, targets = head.to(backbone.device), torch.from_numpy(codes).to(backbone.device)

    def batches(_: int, groups: list[list[int]]) -> Iterable[list[Piece]]:
        return read_ahead(lambda rows: read_pieces(backbone, items, rows), groups, workers=backbone.reader.workers)

    yield from optimise(
        [
            Group({"head.weight": head.weight, "head.bias": head.bias}, recipe.head_rate),
            Group(parts.parameters, recipe.parts_rate),
        ],
        batches,
        lambda rows, inputs: cross_entropy(head(pooled(*inputs)), targets[rows]),
        len(items),
        recipe.plan,
        seed,
        checkpoint=checkpoint,
    )
    adaptation = Adaptation(recipe, seed, backbone.fingerprint, data, parts.tensors())
    weight, bias = (parameter.detach().cpu().numpy() for parameter in (head.weight, head.bias))
    return Trained(adaptation, weight, bias, classes)


def read_pieces(backbone: Backbone, items: Sequence[Any], rows: list[int]) -> list[Piece]:
    """Read a batch as pieces of bounded size: texts of like length need little padding, images little memory."""
    ordered = [rows[place] for place in backbone.reader.order([items[row] for row in rows])]
    pieces = (ordered[start : start + PIECE] for start in range(0, len(ordered), PIECE))
    return [(piece, backbone.reader.read([items[row] for row in piece], "refuse").arrays) for piece in pieces]


def check_examples(items: Sequence[Any], labels: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, at least two, and the place of each label among them."""
    if isinstance(items, str | Path):
        raise InputError("Expected a sequence of items, got a single one. Put it into a list.")
    flat = np.asarray(labels)
    if flat.shape != (len(items),):
        raise InputError(f"Expected one label for each of the {len(items)} items, got shape {flat.shape}.")
    classes, codes = np.unique(flat, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"Expected at least two classes to tell apart, got {len(classes)}. "
            "Begin with a task of several classes, or use the backbone without adaptation."
        )
    return classes, codes.astype(np.int64)


def data_identity(backbone: Backbone, items: Sequence[Any], labels: NDArray[Any]) -> str:
    """Return a hash of items and labels, in their order."""
    root = common_folder(items) if backbone.modality == "image" else None
    digest = hashlib.blake2b(digest_size=16)
    for item, label in zip(item_digests(items, backbone.modality, root), labels.tolist(), strict=True):
        digest.update(item + repr(label).encode() + b"\0")
    return digest.hexdigest()
