"""Features of features: frozen random projections, and AnaCP's contrastive projection on top of them."""

from anacp.projections.affine import Affine
from anacp.projections.contrastive import ContrastiveProjection
from anacp.projections.fourier import FourierProjection
from anacp.projections.random import ACTIVATIONS, Activation, RandomProjection
from anacp.projections.targets import Targets, separation_signs, target_prototypes

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "Affine",
    "ContrastiveProjection",
    "FourierProjection",
    "RandomProjection",
    "Targets",
    "separation_signs",
    "target_prototypes",
]
