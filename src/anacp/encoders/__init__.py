"""A backbone, its layers and its adaptation as one value; items opened once; the store that keeps their features."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.encoders.choice import LayerChoice
    from anacp.encoders.encoder import Encoder, LayersChoice
    from anacp.encoders.encoding import Encoded, EncodingPass
    from anacp.encoders.header import ADAPTATION, ENCODER
    from anacp.encoders.origin import ORIGIN, Origin
    from anacp.encoders.store import FeatureEntry, FeatureStore
    from anacp.encoders.stored import StoredFeatures

__all__ = [
    "ADAPTATION",
    "ENCODER",
    "ORIGIN",
    "Encoded",
    "Encoder",
    "EncodingPass",
    "FeatureEntry",
    "FeatureStore",
    "LayerChoice",
    "LayersChoice",
    "Origin",
    "StoredFeatures",
]

__getattr__ = door(__name__)
