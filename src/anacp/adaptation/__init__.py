"""First-session adaptation, adapters and LoRA: the one optimiser loop, before anything closed-form begins."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.adaptation.adaptation import Adaptation
    from anacp.adaptation.examples import check_task, data_identity, read_pieces
    from anacp.adaptation.facts import ADAPTATION_FACTS
    from anacp.adaptation.loop import (
        Batches,
        Checkpoint,
        Loss,
        Piece,
        TrainingStep,
        cross_entropy,
        network_inputs,
        optimise,
    )
    from anacp.adaptation.parts import Parts, uniform
    from anacp.adaptation.plan import RECIPES, Group, OptimiserPlan, Recipe
    from anacp.adaptation.training import Trained, adapt, finished, train

__all__ = [
    "ADAPTATION_FACTS",
    "RECIPES",
    "Adaptation",
    "Batches",
    "Checkpoint",
    "Group",
    "Loss",
    "OptimiserPlan",
    "Parts",
    "Piece",
    "Recipe",
    "Trained",
    "TrainingStep",
    "adapt",
    "check_task",
    "cross_entropy",
    "data_identity",
    "finished",
    "network_inputs",
    "optimise",
    "read_pieces",
    "train",
    "uniform",
]

__getattr__ = door(__name__)
