"""What decides the features of a backbone, and the fingerprint of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self, get_args

from anacp.backbones.preprocessing import Preprocessing
from anacp.backbones.presets import PRESETS, Pooling, Preset
from anacp.backbones.views import LAST_LAYER, Layers


@dataclass(frozen=True)
class Identity:
    """Backbones of one identity give the same features, to rounding."""

    backbone: str
    weights: str  # their hash
    preprocessing: Preprocessing
    pooling: Pooling
    adaptation: str | None = None
    layers: Layers = LAST_LAYER
    scaled: bool = False  # each layer to length one

    @classmethod
    def of(cls, preset: Preset, weights: str) -> Self:
        """Return the identity of a preset with those weights."""
        # A transformers folder may move; its weights say what it is.
        name = preset.name if preset.name in PRESETS else preset.architecture
        return cls(name, weights, preset.preprocessing, preset.pooling)

    @classmethod
    def restored(cls, parts: Mapping[str, Any]) -> Self:
        """Return the identity from what `asdict` gave, after JSON."""
        stated: dict[str, Any] = parts["preprocessing"]
        kind = next(kind for kind in get_args(Preprocessing) if stated.keys() == {field.name for field in fields(kind)})
        preprocessing = kind(**{key: tuple(one) if isinstance(one, list) else one for key, one in stated.items()})
        return cls(**{**parts, "preprocessing": preprocessing, "layers": tuple(parts["layers"])})

    def adapted(self, adaptation: str) -> Self:
        """Return the identity after something was done to the network."""
        return replace(self, adaptation=" > ".join(filter(None, (self.adaptation, adaptation))))

    @property
    def fingerprint(self) -> str:
        """A hash of all of it; what was meant before layers could be chosen or scaled is not named."""
        parts = asdict(self)
        if self.layers == LAST_LAYER:
            del parts["layers"]
        if not self.scaled:
            del parts["scaled"]
        return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()
