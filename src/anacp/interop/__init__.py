"""Learners in the protocols of frameworks for research: what these call, and nothing of theirs."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.interop.avalanche import AvalancheStrategy
    from anacp.interop.pilot import PilotLearner

__all__ = ["AvalancheStrategy", "PilotLearner"]

__getattr__ = door(__name__)
