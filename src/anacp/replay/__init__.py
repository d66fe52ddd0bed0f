"""What the remembered Gaussians imply for a classifier: in expectation, or by drawing pseudo-features from them."""

from anacp.replay.expected import AdaptedGaussians, adapted_gaussians, expected_gram
from anacp.replay.gaussians import ReplayGroup, draw, replay_groups
from anacp.replay.readout import Readout
from anacp.replay.sampled import sampled_gram

__all__ = [
    "AdaptedGaussians",
    "Readout",
    "ReplayGroup",
    "adapted_gaussians",
    "draw",
    "expected_gram",
    "replay_groups",
    "sampled_gram",
]
