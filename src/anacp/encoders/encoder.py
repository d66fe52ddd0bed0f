"""The encoder: backbone, adaptation and layers as one value, from items to features."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Literal

from torch import Tensor

from anacp.adaptation import Adaptation
from anacp.backbones import LAST_LAYER, Backbone, EngineName, Layer, Layers, digests, known_backbone, preset
from anacp.backbones import backbone as load_backbone
from anacp.encoders.choice import LayerChoice
from anacp.encoders.encoding import Encoded, EncodingPass, Wanted
from anacp.encoders.header import ADAPTATION
from anacp.encoders.origin import Origin
from anacp.encoders.store import FeatureStore
from anacp.errors import NotLearnedError, ParameterError
from anacp.items import Modality, OnError, as_items
from anacp.progress import Report
from anacp.threads import OwnLock

LayersChoice = Literal["auto", "last"] | Sequence[Layer]

_LOADING = OwnLock()  # a backbone is frozen, so that the encoders and threads of a process share one


@lru_cache(maxsize=4)
def _loaded(name: str, engine: EngineName, device: str, remote_code: bool) -> Backbone:
    """Return a backbone that a person names."""
    return load_backbone(name, engine=engine, device=device, remote_code=remote_code)


@lru_cache(maxsize=4)
def _known(name: str, engine: EngineName, device: str) -> Backbone:
    """Return a backbone that a file names."""
    return known_backbone(name, engine=engine, device=device)


class Encoder:
    """Images or texts in, features out: everything that decides them, as one value.

    Parameters
    ----------
    backbone : str or Backbone
        A name ("efficientnet-lite0" for images, "minilm-l6" for texts, any other of `anacp.backbones.PRESETS`, or
        "hf:NAME_OR_FOLDER"), or a backbone. By name, it is loaded on first use.
    adaptation : Adaptation, optional
        How the backbone is adapted, see `anacp.adaptation.adapt`.
    concatenate : bool, default=False
        Frozen and adapted features side by side, instead of the adapted ones; `NCM` on them is APER (Zhou et al. 2024).
    layers : {"auto", "last"} or sequence of int or str, optional
        Which layers give features, side by side, each scaled to length one where there are several: 0 or "block 0" is
        the first, -1 or "last" the last, see `Backbone.with_layers`. With "auto" a classifier chooses them by the first
        examples that it learns; before that, the encoder has no features. As the backbone has them by default, which is
        the last one.
    scaled : bool, optional
        Scale each layer to length one, or none; by default where there are several.
    engine : {"auto", "onnx", "torch"}, default="auto"
        What runs a backbone given by name.
    device : str, default="cpu"
        Any torch device, for a backbone given by name.
    origin : Origin, optional
        What the features must be; a backbone that makes others is refused when it is loaded.
    remote_code : bool, default=False
        Run the Python files that come with a backbone given by name, see `anacp.backbones.backbone`.
    """

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        adaptation: Adaptation | None = None,
        concatenate: bool = False,
        layers: LayersChoice | None = None,
        scaled: bool | None = None,
        engine: EngineName = "auto",
        device: str = "cpu",
        origin: Origin | None = None,
        remote_code: bool = False,
    ) -> None:
        if concatenate and adaptation is None:
            raise ParameterError("Expected an adaptation, to put adapted features beside the frozen ones, got none.")
        self.adaptation, self.concatenate = adaptation, concatenate
        self.choice: LayerChoice | None = None
        self._given, self._scaled = backbone, scaled
        self._layers = LAST_LAYER if layers == "last" else layers
        self._engine: EngineName = engine
        self._device, self._stated, self._remote_code = device, origin, remote_code
        self._named_by_file = False
        self._made: tuple[Backbone, ...] | None = None
        self._making = OwnLock()
        if isinstance(backbone, str):
            if not backbone.startswith("hf:"):
                preset(backbone)  # a misspelt name is answered now
        elif not self.undecided:
            self.parts  # noqa: B018 (what does not fit is refused now)

    def __repr__(self) -> str:
        return f"<Encoder {self._stated or self._given}>"

    @cached_property
    def backbone(self) -> Backbone:
        """The frozen network, as it is before adaptation."""
        if isinstance(self._given, Backbone):
            return self._given
        with _LOADING:
            if self._named_by_file:
                return _known(self._given, self._engine, self._device)
            return _loaded(self._given, self._engine, self._device, self._remote_code)

    @property
    def parts(self) -> tuple[Backbone, ...]:
        """What runs on each item, the features side by side: the frozen network, the adapted one, or both."""
        if self._layers == "auto":
            raise NotLearnedError(
                "Expected layers that are chosen, got layers='auto' before anything was learned by which to choose "
                "them. Teach a Classifier with this encoder first, or state the layers."
            )
        with self._making:
            if self._made is None:
                made = self._adapted()
                if self._layers is not None:
                    made = tuple(part.with_layers(self._layers, scaled=self._scaled) for part in made)
                found = _origin(made)
                if self._stated is not None:
                    self._stated.check(found)
                self._stated, self._made = found, made
            return self._made

    def _adapted(self) -> tuple[Backbone, ...]:
        # Where the features are stated, a backbone that is none to adapt may be the adapted one; `parts` compares.
        if self.adaptation is None or (self._stated and self.backbone.fingerprint != self.adaptation.base):
            return (self.backbone,)
        adapted = self.adaptation.apply(self.backbone)
        return (self.backbone, adapted) if self.concatenate else (adapted,)

    @property
    def undecided(self) -> bool:
        """Whether layers have still to be chosen."""
        return self._layers == "auto"

    def decided(self, layers: Layers, choice: LayerChoice | None = None, *, scaled: bool | None = None) -> Encoder:
        """Return this encoder with these layers, and why it has them."""
        options: dict[str, Any] = {"engine": self._engine, "device": self._device, "remote_code": self._remote_code}
        adapted: dict[str, Any] = {"adaptation": self.adaptation, "concatenate": self.concatenate}
        made = Encoder(self._given, layers=layers, scaled=scaled, **adapted, **options)
        made.choice = choice
        return made

    @property
    def origin(self) -> Origin:
        """What a model remembers of its features: backbone, fingerprint, kind of input and width."""
        if self._stated is None:
            self.parts  # noqa: B018 (loading it tells)
        assert self._stated is not None
        return self._stated

    @property
    def name(self) -> str:
        """The backbone's name; it need not be loaded to be told."""
        if self._stated is not None:
            return self._stated.name
        return self._given if isinstance(self._given, str) else self._given.preset.name

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides the features."""
        return self.origin.fingerprint

    @property
    def modality(self) -> Modality:
        """What goes in: "image" or "text"."""
        return self.backbone.modality if self.undecided else self.origin.modality

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        return self.origin.n_features

    def encode(
        self,
        items: Sequence[Any],
        *,
        store: FeatureStore | None = None,
        on_error: OnError = "refuse",
        wanted: Wanted | None = None,
        report: Report | None = None,
    ) -> Encoded:
        """Return the features of the items, each read once.

        On a CPU an item's row has the same bits whatever other items there are, and whether a store had it or not.

        Parameters
        ----------
        items : sequence
            Texts, or paths, Pillow images and images of `anacp.items`.
        store : FeatureStore, optional
            Where features are looked up, and kept for the next time.
        on_error : {"refuse", "skip"}
            What to do with an image that cannot be read; those skipped are in the result.
        wanted : callable, optional
            Asked for each item, in order, with its position and the digest of its content; where it says no, the item
            is passed over and costs no more than reading it.
        report : callable, optional
            Called with a `Progress` now and then.

        Raises
        ------
        ImageError
            With "refuse", for the first image that cannot be read; what was computed before stays in the store.
        """
        if on_error not in ("refuse", "skip"):
            raise ParameterError(f"Expected on_error 'refuse' or 'skip', got {on_error!r}. Choose one of the two.")
        return EncodingPass(self.parts, as_items(items), store=store, on_error=on_error, wanted=wanted).run(report)

    def digests(self, items: Sequence[Any]) -> list[bytes]:
        """Return 16 bytes for the content of each item, the same wherever it lies; an unreadable one is refused."""
        return digests(as_items(items), self.modality)

    def portable(self) -> Encoder:
        """Return this encoder with its network in hand, to be sent to another process; that calls `received`."""
        self.parts  # noqa: B018 (what does not fit is refused here)
        twin = copy.copy(self)
        twin.__dict__.pop("backbone", None)
        twin._given, twin._stated, twin._made, twin._making = self.backbone, self.origin, None, OwnLock()
        return twin

    def received(self, device: str = "cpu") -> Encoder:
        """Return what `portable` gave, on a device; weights that are not those of its fingerprint are refused."""
        assert isinstance(self._given, Backbone)
        twin = copy.copy(self)
        twin._given, twin._made, twin._making = self._given.received(device), None, OwnLock()
        return twin

    def contents(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file keeps: facts for its header, and tensors."""
        header: dict[str, Any] = {"backbone": self.origin.header()}
        if self.choice is not None:
            header["layer_choice"] = self.choice.header()
        if self.adaptation is None:
            return header, {}
        header["adaptation"] = self.adaptation.header() | {"concatenate": self.concatenate}
        return header, {f"{ADAPTATION}{name}": tensor for name, tensor in self.adaptation.tensors.items()}

    @classmethod
    def restored(
        cls,
        header: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        *,
        backbone: str | Backbone | None = None,
        engine: EngineName = "auto",
        device: str = "cpu",
        remote_code: bool = False,
    ) -> Encoder:
        """Return the encoder from what `contents` gave, among whatever else is in the file.

        Its backbone is the one given, adapted or not, or the one that the header names, loaded on first use if it is
        known here (`anacp.backbones.known_backbone`); any other than the one it was made with is refused.
        """
        origin = Origin.restored(header["backbone"])
        stated = header.get("adaptation")
        own = {name.removeprefix(ADAPTATION): one for name, one in tensors.items() if name.startswith(ADAPTATION)}
        made = cls(
            backbone or origin.name,
            adaptation=Adaptation.restored(stated, own) if stated else None,
            concatenate=bool(stated and stated["concatenate"]),
            layers=origin.layers,
            scaled=origin.scaled,
            engine=engine,
            device=device,
            origin=origin,
            remote_code=remote_code,
        )
        made._named_by_file = backbone is None
        made.choice = LayerChoice.restored(header["layer_choice"]) if "layer_choice" in header else None
        if backbone is not None:
            made.parts  # noqa: B018 (another one is refused now)
        return made


def _origin(parts: Sequence[Backbone]) -> Origin:
    first = Origin.of(parts[0])
    if len(parts) == 1:
        return first
    both = parts[0].identity.adapted(f"beside {parts[1].adaptation}")
    width = sum(part.n_features for part in parts)
    return replace(first, fingerprint=both.fingerprint, adaptation=both.adaptation, n_features=width)
