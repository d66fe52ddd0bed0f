"""Trained methods small enough for a test, and two tasks that they can learn."""

from typing import Any

import numpy as np
from PIL import Image

from anacp.backbones import Backbone
from anacp.catalogue import METHODS
from anacp.methods.trained import TrainedMethod

TRAINED = [name for name, entry in METHODS.items() if entry.make.__module__.startswith("anacp.methods.trained")]
CONTINUAL = [name for name in TRAINED if not METHODS[name].joint]
FIRST, SECOND = ("red", "green", "blue"), ("house", "tree", "car")
FILLERS = ("the", "a", "very")
COLOURS = {label: [40 * (place == channel) for channel in range(3)] for place, label in enumerate(FIRST)} | {
    label: [-40 * (place == channel) for channel in range(3)] for place, label in enumerate(SECOND)
}

# Tiny networks have two blocks, and learn in few epochs at rates that suit their random weights.
SMALL: dict[str, dict[str, Any]] = {
    "L2P": {"n_prompts": 4, "length": 2, "n_chosen": 2, "rate": 0.6, "read": "tokens"},
    "DualPrompt": {"general_layers": (0,), "expert_layers": (1,), "general_length": 2, "expert_length": 2, "rate": 0.6},
    "CODAPrompt": {"n_components": 3, "length": 4, "prompt_layers": (0, 1), "rate": 2e-2},
    "SLCA": {"rate": 1e-3, "head_rate": 0.1, "align_samples": 32},
    "SequentialFineTuning": {"rate": 0.01, "head_rate": 0.05},
    "JointLinearProbe": {"rate": 0.1},
    "JointFineTuning": {"rank": 2, "rate": 1e-2, "head_rate": 2e-2},
}


def make(name: str, encoder: Backbone, **changes: Any) -> TrainedMethod:
    return METHODS[name].new(encoder, **{"epochs": 6, "batch_size": 8} | SMALL[name] | changes)


def task(labels: tuple[str, ...], modality: str = "text", n: int = 48, seed: int = 0) -> tuple[list[Any], np.ndarray]:
    """Sentences with one telling word, or pictures with a tinge."""
    generator = np.random.default_rng([seed, *labels[0].encode()])
    names = np.array(labels)[generator.permutation(np.arange(n) % len(labels))]
    items: list[Any] = []
    for label in names.tolist():
        if modality == "text":
            filler = generator.choice(FILLERS, generator.integers(1, 4)).tolist()
            items.append(" ".join([*filler[:1], label, *filler[1:]]))
        else:
            pixels = generator.integers(60, 180, (16, 16, 3)) + np.array(COLOURS[label])
            items.append(Image.fromarray(pixels.astype(np.uint8)))
    return items, names


def accuracy(model: TrainedMethod, examples: tuple[list[Any], np.ndarray]) -> float:
    items, labels = examples
    return float((model.predict(items) == labels).mean())
