"""Which network a model was learned with: it can run on no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from anacp.backbones import LAST_LAYER, Layers
from anacp.encoders.choice import LAYER, layer_names
from anacp.errors import MismatchError
from anacp.files import Fact, Record
from anacp.items import Modality

if TYPE_CHECKING:
    from anacp.backbones import Backbone

# What a model file must say of its features.
ORIGIN = Record(
    {
        "name": Fact.name(1000),
        "fingerprint": Fact.name(),
        "modality": Fact.one_of("image", "text"),
        "n_features": Fact.whole(1),
        "adaptation": Fact.name(10_000).or_nothing,
    },
    {"layers": LAYER.several, "scaled": Fact.flag()},
)


@dataclass(frozen=True)
class Origin:
    """What a model file says of its features."""

    name: str
    fingerprint: str
    modality: Modality
    n_features: int
    adaptation: str | None = None
    layers: Layers = LAST_LAYER
    scaled: bool = False  # each layer to length one

    @classmethod
    def of(cls, backbone: Backbone) -> Origin:
        """Return what is to be remembered of a backbone."""
        name, identity = backbone.preset.name, backbone.identity
        features = backbone.fingerprint, backbone.modality, backbone.n_features
        return cls(name, *features, identity.adaptation, identity.layers, identity.scaled)

    def header(self) -> dict[str, Any]:
        """Return it ready for JSON; files have no word on layers where there is only the last, as it is."""
        usual = {"layers": LAST_LAYER, "scaled": False}
        return {key: value for key, value in asdict(self).items() if key not in usual or value != usual[key]}

    @classmethod
    def restored(cls, header: Mapping[str, Any]) -> Origin:
        """Return it from what `header` gave."""
        return cls(**{**header, "layers": tuple(header.get("layers", LAST_LAYER))})

    def __str__(self) -> str:
        adapted = f", adapted: {self.adaptation}" if self.adaptation else ""
        layers = "" if self.layers == LAST_LAYER else f", layers {layer_names(self.layers)}"
        return f"{self.name} (fingerprint {self.fingerprint[:12]}{adapted}{layers})"

    def check(self, other: Origin) -> None:
        """Refuse another backbone: its features mean something else."""
        if other.fingerprint == self.fingerprint:
            return
        if other.name != self.name:
            advice = f"Use {self.name}, or learn a model of its own with {other.name}."
        elif self.adaptation != other.adaptation:
            advice = "Give the adapted backbone itself: `Classifier.load(path, backbone=adapted)`."
        elif self.layers != other.layers:
            advice = f"Use `with_layers({list(self.layers)})` of it, or teach both with the same layers."
        else:
            advice = "The weights or their preprocessing have changed: bring back those it was learned with."
        raise MismatchError(f"Expected the backbone that the model was learned with, {self}, got {other}. {advice}")
