"""Features of features: frozen random projections, and AnaCP's contrastive projection on top of them."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.projections.affine import Affine
    from anacp.projections.contrastive import ContrastiveProjection
    from anacp.projections.fourier import FourierProjection
    from anacp.projections.plain import PLAIN_ACTIVATIONS, plain_projection
    from anacp.projections.random import ACTIVATIONS, Activation, RandomProjection
    from anacp.projections.smoothing import smoothed, smoothed_bend
    from anacp.projections.structured import StructuredProjection
    from anacp.projections.targets import Targets, separation_signs, target_prototypes

__all__ = [
    "ACTIVATIONS",
    "PLAIN_ACTIVATIONS",
    "Activation",
    "Affine",
    "ContrastiveProjection",
    "FourierProjection",
    "RandomProjection",
    "StructuredProjection",
    "Targets",
    "plain_projection",
    "separation_signs",
    "smoothed",
    "smoothed_bend",
    "target_prototypes",
]

__getattr__ = door(__name__)
