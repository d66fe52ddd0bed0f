"""What the remembered Gaussians imply for a classifier, by drawing pseudo-features from them."""

from anacp.replay.gaussians import ReplayGroup, draw, replay_groups
from anacp.replay.gram import Readout, replayed_gram

__all__ = ["Readout", "ReplayGroup", "draw", "replay_groups", "replayed_gram"]
