"""The backbone: a frozen pretrained network from inputs to features."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import nn

from anacp.backbones.engines import Engine, EngineName, make_engine
from anacp.backbones.inputs import OnError, Reader
from anacp.backbones.network import PooledNetwork, weights_hash
from anacp.backbones.presets import PRESETS, Modality, Preset
from anacp.backbones.readahead import read_ahead
from anacp.errors import NumericalError, ParameterError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Backbone", "Batch"]


@dataclass(frozen=True)
class Batch:
    """Features of some of the inputs, and the inputs that could not be read."""

    x: NDArray[np.float32]  # (k, d)
    kept: list[int]  # k positions among the inputs
    skipped: list[tuple[int, str]]  # position and reason


class Backbone:
    """A frozen pretrained network; made by `backbone(name)`.

    Attributes
    ----------
    preset : Preset
        What it is: preprocessing, pooling, licence, what it was pretrained on.
    fingerprint : str
        A hash of weights, preprocessing, pooling, name and adaptation. Equal fingerprints give equal features (to
        rounding), so a model file records it and refuses another.
    """

    def __init__(
        self,
        preset: Preset,
        network: nn.Module,
        reader: Reader,
        *,
        engine: EngineName = "auto",
        device: str = "cpu",
        adaptation: str | None = None,
        weights: str | None = None,
    ) -> None:
        self.preset = preset
        self.device = device
        self.adaptation = adaptation
        self._pooled = PooledNetwork(network.eval(), preset.pooling).to(device)
        self._reader = reader
        self._engine_name: EngineName = engine
        self._engine: Engine | None = None
        self._weights = weights or weights_hash(network)
        self.fingerprint = self._fingerprint()

    def __repr__(self) -> str:
        return f"<Backbone {self.preset.name}: {self.modality} -> {self.n_features} features>"

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        return self.preset.n_features

    @property
    def modality(self) -> Modality:
        """What goes in: "image" or "text"."""
        return self.preset.modality

    @property
    def reader(self) -> Reader:
        """What turns inputs into the arrays that `module()` takes."""
        return self._reader

    @property
    def engine(self) -> str:
        """What runs the network: "onnx" or "torch". The network is exported on first use."""
        return self._running().name

    def encode(self, inputs: Sequence[str | Path | Image]) -> NDArray[np.float32]:
        """Return one row of features per input.

        Parameters
        ----------
        inputs : sequence
            Texts for a text backbone; paths or Pillow images for an image backbone.

        Raises
        ------
        ImageError
            If an image cannot be read; the message names the file. `batches` can skip it.
        """  # (n, d)
        x = np.empty((len(inputs), self.n_features), np.float32)
        for batch in self.batches(inputs):
            x[batch.kept] = batch.x
        return x

    def batches(
        self, inputs: Sequence[str | Path | Image], *, batch_size: int = 32, on_error: OnError = "refuse"
    ) -> Iterator[Batch]:
        """Yield the features batch by batch, in the order that computes fastest; reading overlaps computing."""
        if batch_size < 1:
            raise ParameterError(f"Expected batch_size of at least 1, got {batch_size}. Choose a positive number.")
        if on_error not in ("refuse", "skip"):
            raise ParameterError(f"Expected on_error 'refuse' or 'skip', got {on_error!r}. Choose one of the two.")
        if isinstance(inputs, str | Path):
            raise ParameterError("Expected a sequence of inputs, got a single one. Put it into a list.")
        order = self._reader.order(inputs)
        if not order:
            return
        engine = self._running()  # exported before threads start: exporting touches process-wide warning filters
        groups = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        prepared = read_ahead(
            lambda group: (group, self._reader.read([inputs[index] for index in group], on_error)),
            groups,
            workers=self._reader.workers,
        )
        for group, batch in prepared:
            x = engine.run(batch.arrays) if batch.kept else np.empty((0, self.n_features), np.float32)
            if not np.isfinite(x).all():
                raise NumericalError(
                    f"Expected finite features, got NaN or infinity from {self.preset.name} on {self.device}. "
                    "Half precision may overflow there: use device='cpu'."
                )
            skipped = [(group[index], reason) for index, reason in batch.skipped]
            yield Batch(x, [group[index] for index in batch.kept], skipped)

    def module(self) -> nn.Module:
        """Return a copy of the torch network, yours to adapt; the backbone itself stays frozen."""
        return copy.deepcopy(self._pooled.network)

    def with_module(self, module: nn.Module, adaptation: str, *, n_features: int | None = None) -> Backbone:
        """Return this backbone running an adapted network.

        Parameters
        ----------
        module : torch.nn.Module
            The network from `module()` after adaptation. It is put into eval mode and must not change any more.
        adaptation : str
            What was done to it, as a fingerprint: part of the new backbone's fingerprint.
        n_features : int, optional
            How many numbers a row has now, if not as many as before.
        """
        if not adaptation:
            raise ParameterError("Expected a fingerprint of the adaptation, got an empty text. Describe what was done.")
        return Backbone(
            replace(self.preset, n_features=n_features or self.n_features),
            module,
            self._reader,
            engine=self._engine_name,
            device=self.device,
            adaptation=adaptation if self.adaptation is None else f"{self.adaptation} > {adaptation}",
            weights=self._weights,
        )

    def _running(self) -> Engine:
        if self._engine is None:
            self._engine = make_engine(self._engine_name, self._pooled, self._reader.example(), self.device)
        return self._engine

    def _fingerprint(self) -> str:
        # A transformers folder may move; its weights say what it is.
        name = self.preset.name if self.preset.name in PRESETS else self.preset.architecture
        parts = {
            "backbone": name,
            "weights": self._weights,
            "preprocessing": asdict(self.preset.preprocessing),
            "pooling": self.preset.pooling,
            "adaptation": self.adaptation,
        }
        return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()
