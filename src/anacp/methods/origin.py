"""Which backbone a model was learned with: it can run on no other."""

from __future__ import annotations

from dataclasses import dataclass

from anacp.backbones import Backbone
from anacp.errors import MismatchError

__all__ = ["Origin"]


@dataclass(frozen=True)
class Origin:
    """What a model file says of its backbone."""

    name: str
    fingerprint: str
    modality: str
    n_features: int
    adaptation: str | None = None

    @classmethod
    def of(cls, backbone: Backbone) -> Origin:
        """Return what is to be remembered of a backbone."""
        preset = backbone.preset
        return cls(preset.name, backbone.fingerprint, backbone.modality, backbone.n_features, backbone.adaptation)

    def __str__(self) -> str:
        adapted = f", adapted: {self.adaptation}" if self.adaptation else ""
        return f"{self.name} (fingerprint {self.fingerprint[:12]}{adapted})"

    def check(self, other: Origin) -> None:
        """Refuse another backbone: its features mean something else."""
        if other.fingerprint == self.fingerprint:
            return
        if other.name != self.name:
            advice = f"Use {self.name}, or learn a model of its own with {other.name}."
        elif self.adaptation != other.adaptation:
            advice = "Give the adapted backbone itself: `Classifier.load(path, backbone=adapted)`."
        else:
            advice = "The weights or their preprocessing have changed: bring back those it was learned with."
        raise MismatchError(f"Expected the backbone that the model was learned with, {self}, got {other}. {advice}")
