"""A backbone, its layers and its adaptation as one value; items opened once; the store that keeps their features."""

from anacp.encoders.encoder import ADAPTATION, ENCODER, Encoder
from anacp.encoders.encoding import Encoded
from anacp.encoders.origin import ORIGIN, Origin
from anacp.encoders.store import FeatureEntry, FeatureStore
from anacp.encoders.stored import StoredFeatures

__all__ = [
    "ADAPTATION",
    "ENCODER",
    "ORIGIN",
    "Encoded",
    "Encoder",
    "FeatureEntry",
    "FeatureStore",
    "Origin",
    "StoredFeatures",
]
