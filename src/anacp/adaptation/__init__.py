"""First-session adaptation, adapters and LoRA: the one optimiser loop, before anything closed-form begins."""

from anacp.adaptation.adaptation import Adaptation
from anacp.adaptation.concatenated import concatenated
from anacp.adaptation.first_session import adapt
from anacp.adaptation.loop import Progress
from anacp.adaptation.recipes import RECIPES, Recipe, recipe
from anacp.adaptation.training import Trained, train

__all__ = [
    "RECIPES",
    "Adaptation",
    "Progress",
    "Recipe",
    "Trained",
    "adapt",
    "concatenated",
    "recipe",
    "train",
]
