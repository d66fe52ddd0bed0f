"""The backbone: a frozen pretrained network from inputs to features, and what decides them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from anacp.backbones.engines import Engine, EngineName, make_engine
from anacp.backbones.exported import LoadedFrom, OnnxEngine, finite, note_export
from anacp.backbones.identity import Identity
from anacp.backbones.inputs import Reader, read_ahead
from anacp.backbones.layers import canonical, nested
from anacp.backbones.network import PooledNetwork, ViewedNetwork, weights_hash
from anacp.backbones.presets import Preset
from anacp.backbones.views import LAST_LAYER, Layer, Layers, LayerView
from anacp.errors import MismatchError, ParameterError
from anacp.items import Modality, as_items, hold
from anacp.threads import OwnLock


class Backbone:
    """A frozen pretrained network; made by `backbone(name)`.

    Attributes
    ----------
    preset : Preset
        What it is: preprocessing, pooling, licence, what it was pretrained on.
    identity : Identity
        What decides its features: weights, preprocessing, pooling, name, adaptation and layers.
    fingerprint : str
        A hash of the identity. Equal fingerprints give equal features (to rounding), so a model file records it and
        refuses another.
    reader : Reader
        What turns inputs into the arrays that `run` and `module()` take.
    whole : Backbone
        What is computed, and kept in a store: for chosen layers all those that may be chosen (`choices`), as they are.
        Which of them are chosen then costs no further pass, network or export. Itself for the last layer.
    view : LayerView, optional
        What of all that are the features.
    """

    def __init__(
        self,
        preset: Preset,
        network: nn.Module,
        reader: Reader,
        *,
        engine: EngineName = "auto",
        device: str = "cpu",
        identity: Identity | None = None,
        whole: Backbone | None = None,
        view: LayerView | None = None,
    ) -> None:
        self.preset = preset
        self.device = device
        self.reader = reader
        self.identity = identity or Identity.of(preset, weights_hash(network))
        self.fingerprint = self.identity.fingerprint
        self.whole, self.view = whole or self, view
        self._pooled = PooledNetwork(network.eval(), preset.pooling, self.whole.identity.layers).to(device)
        self._wholes: dict[Layers, Backbone] = {}
        self._plain = self  # the same with the last layer alone
        self.loaded_from: LoadedFrom | None = None
        self._engine_name: EngineName = engine
        self._engine: Engine | None = None
        self._starting = OwnLock()

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
    def adaptation(self) -> str | None:
        """What was done to the network after pretraining."""
        return self.identity.adaptation

    @property
    def engine(self) -> str:
        """What runs the network: "onnx" or "torch". The network is exported on first use."""
        return self._running().name

    @property
    def batch_size(self) -> int:
        """How many inputs run together. On a CPU no input's features depend on which others there are, to the bit."""
        return min(self.reader.batch_size, self._running().batch_size)

    def encode(self, inputs: Sequence[Any]) -> NDArray[np.float32]:
        """Return one row of features per input; reading overlaps computing.

        Parameters
        ----------
        inputs : sequence
            Texts for a text backbone; paths, Pillow images or images of `anacp.items` for an image backbone.

        Raises
        ------
        ImageError
            If an image cannot be read; the message names the file. `Encoder.encode` can skip it.
        """  # (n, d)
        items = as_items(inputs)
        size = self.batch_size  # exported before threads start: exporting touches process-wide warning filters
        x = np.empty((len(items), self.n_features), np.float32)

        def read(start: int) -> tuple[int, Mapping[str, NDArray[Any]]]:
            group = range(start, min(start + size, len(items)))
            return start, self.reader.read([hold(items[place], self.modality, place).source for place in group])

        for start, arrays in read_ahead(read, range(0, len(items), size), workers=self.reader.workers):
            x[start : start + size] = self.run(arrays)
        return x

    def run(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the features of what `reader` made of some inputs."""  # (n, d)
        computed = self.compute(arrays)
        return self.view(computed) if self.view else computed

    def compute(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return what `whole` has as features of some inputs; `view` has this backbone's of it."""
        return finite(self._running().run(arrays), self.preset.name, self.device)

    @property
    def network(self) -> nn.Module:
        """The torch network that gives the features, for arrays of `reader`. Not to be changed."""
        return ViewedNetwork(self._pooled, self.view) if self.view else self._pooled

    def module(self) -> nn.Module:
        """Return a copy of the torch network, yours to adapt; the backbone itself stays frozen."""
        return copy.deepcopy(self._pooled.network)

    def with_module(self, module: nn.Module, adaptation: str) -> Backbone:
        """Return this backbone running an adapted network.

        Parameters
        ----------
        module : torch.nn.Module
            The network from `module()` after adaptation. It is put into eval mode and must not change any more.
        adaptation : str
            What was done to it, as a fingerprint: part of the new backbone's fingerprint.
        """
        if not adaptation:
            raise ParameterError("Expected a fingerprint of the adaptation, got an empty text. Describe what was done.")
        plain = self._plain
        changed = plain._changed(plain.preset, module, plain.identity.adapted(adaptation))
        return changed.with_layers(self.identity.layers, scaled=self.identity.scaled)

    @cached_property
    def layer_widths(self) -> dict[Layer, int]:
        """How many numbers each layer has, the first layer first, counted from the last; "patches" where it has some.

        A network that shows nothing but what comes out of it has one layer.
        """
        if self._plain is not self:
            return self._plain.layer_widths
        example = [torch.from_numpy(array).to(self.device) for array in self.reader.example().values()]
        try:
            with torch.inference_mode():
                return self._pooled.widths(*example)
        except MismatchError:
            return {-1: self.n_features}

    @property
    def choices(self) -> tuple[Layers, ...]:
        """The layers among which `layers="auto"` chooses: the last one, and more and more besides."""
        return nested(self.layer_widths)

    def with_layers(self, layers: Sequence[Layer], *, scaled: bool | None = None) -> Backbone:
        """Return this backbone with the features of other layers, pooled like the last and side by side.

        Parameters
        ----------
        layers : sequence of int or str
            Which, in this order: 0 is the first layer, -1 the last. A transformer has its blocks, EfficientNet-Lite its
            blocks and the convolution that follows them. By name: "block 0" is the first, "last" the last one, and
            "patches" the mean over all patches of the last one, where the features are its class token.
        scaled : bool, optional
            Scale each layer to length one; by default where there are several.
        """
        plain = self._plain
        if tuple(layers) == LAST_LAYER and not scaled:
            return plain
        widths = self.layer_widths
        chosen = canonical(layers, widths, self.preset.name)
        scaled = len(chosen) > 1 if scaled is None else scaled
        if (chosen, scaled) == (self.identity.layers, self.identity.scaled):
            return self
        if (chosen, scaled) == (LAST_LAYER, False):
            return plain
        widest = self.choices[-1]
        computed = widest if set(chosen) <= set(widest) else tuple(dict.fromkeys(chosen))
        whole = plain._computing(computed)
        if (chosen, scaled) == (computed, False):
            return whole
        view = LayerView.of(chosen, computed, widths, scaled)
        preset = replace(plain.preset, n_features=view.n_features)
        identity = replace(plain.identity, layers=chosen, scaled=scaled)
        return plain._changed(preset, plain._pooled.network, identity, whole, view)

    def received(self, device: str) -> Backbone:
        """Return this backbone, which another process has sent, on a device; weights that have changed are refused."""
        plain = self._plain
        found = weights_hash(plain._pooled.network)
        if plain.identity.adaptation is None and found != plain.identity.weights:
            raise MismatchError(
                f"Expected the weights of {plain.preset.name} with the hash {plain.identity.weights}, got {found}. "
                "What was sent is not what arrived, or this machine computes with them differently: send it again."
            )
        options: dict[str, Any] = {"engine": plain._engine_name, "device": device, "identity": plain.identity}
        made = Backbone(plain.preset, plain._pooled.network, plain.reader, **options)
        return made.with_layers(self.identity.layers, scaled=self.identity.scaled)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the engine, which holds a session that cannot be sent: it is started anew."""
        return {**self.__dict__, "_engine": None}

    def _computing(self, layers: Layers) -> Backbone:
        """Return the backbone with all these layers as they are, one for all who ask."""
        if layers == LAST_LAYER:
            return self
        preset = replace(self.preset, n_features=sum(self.layer_widths[layer] for layer in layers))
        made = self._changed(preset, self._pooled.network, replace(self.identity, layers=layers))
        return self._wholes.setdefault(layers, made)

    def _changed(
        self,
        preset: Preset,
        network: nn.Module,
        identity: Identity,
        whole: Backbone | None = None,
        view: LayerView | None = None,
    ) -> Backbone:
        options: dict[str, Any] = {"engine": self._engine_name, "device": self.device, "whole": whole, "view": view}
        changed = Backbone(preset, network, self.reader, identity=identity, **options)
        changed.loaded_from = self.loaded_from
        if identity.layers != LAST_LAYER or identity.scaled:
            changed._plain = self
        return changed

    def _running(self) -> Engine:
        if self._engine is None:
            with self._starting:
                if self._engine is None:
                    self._engine = self._started()
        return self._engine

    def _started(self) -> Engine:
        if self.view:
            engine = self.whole._running()
        else:
            engine = make_engine(self._engine_name, self._pooled, self.reader.example(), self.device)
        if isinstance(engine, OnnxEngine) and self.loaded_from and self.identity.adaptation is None:
            note_export(self.identity, engine, self.loaded_from, self.reader, self.view)
        return engine
