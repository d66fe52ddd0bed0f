"""A text network small enough to be loaded thousands of times, known by a name as those of the package are."""

import os
import sys
import warnings
from functools import cache
from pathlib import Path

import torch

from anacp.backbones import PRESETS, Backbone, Preset, TextPreprocessing, backbone
from tests.adaptation.models import WORDS, tiny

NAME = "tiny-text"
TEXTS = [" ".join((WORDS[i % 3], WORDS[(i + 3) % 9], WORDS[(i * 5) % 7])) for i in range(9)]
LABELS = [WORDS[i % 3] for i in range(9)]
SHOWN = ["red the house", "a very blue tree", "green"]


def calm() -> None:
    """Make this process one that can be forked: one thread, and no engine that starts threads of its own."""
    torch.set_num_threads(1)
    sys.modules["onnxruntime"] = None  # type: ignore[assignment] # as where it is not installed
    warnings.simplefilter("ignore")
    from transformers.utils import logging

    logging.disable_progress_bar()


@cache
def network(folder: Path) -> Backbone:
    """Return the network by its name; its weights are put where a person would put them, below `folder`."""
    weights = folder / "weights"
    weights.mkdir(parents=True, exist_ok=True)
    tiny("bert", weights)
    (weights / "bert").rename(weights / NAME)
    PRESETS[NAME] = Preset(
        NAME, "transformers", "made here", "text", 24, TextPreprocessing(16), "mean over tokens", "none", "nothing"
    )
    before = os.environ.get("ANACP_HOME")
    os.environ["ANACP_HOME"] = str(folder)
    try:
        return backbone(NAME, engine="torch")
    finally:
        if before is None:
            del os.environ["ANACP_HOME"]
        else:
            os.environ["ANACP_HOME"] = before
