"""`load_sample`: a real class-incremental problem in one line, offline."""

import json
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.files import TensorFile
from anacp.names import Names
from anacp.samples.quantization import SAMPLE, dequantize

# What is shipped, and the backbone that made it.
SAMPLES: Names[str] = Names("embedded sample", {"cifar100": "efficientnet-lite0", "clinc150": "minilm-l6"})


@dataclass(frozen=True)
class Sample:
    """Features and labels, split for training and testing."""

    name: str
    x_train: NDArray[np.float32]  # (n, d)
    y_train: NDArray[np.str_]  # (n,)
    x_test: NDArray[np.float32]
    y_test: NDArray[np.str_]
    x_unknown: NDArray[np.float32]  # (m, d) queries that belong to no class; empty where there are none
    card: dict[str, str]  # origin and licences


def load_sample(name: str) -> Sample:
    """Return an embedded sample of real pretrained features.

    Parameters
    ----------
    name : {"clinc150", "cifar100"}
        "clinc150": 150 intents × (100 train + 30 test), 1,000 out-of-scope queries, 384 MiniLM features.
        "cifar100": 100 classes × (50 train + 20 test), 1,280 EfficientNet-Lite0 features.
    """
    SAMPLES.find(name)
    with as_file(files("anacp.samples") / f"{name}.safetensors") as path:
        file = TensorFile(path, SAMPLE)
        arrays, card = file.arrays(), file.header
    names = np.array(json.loads(card.pop("classes")))

    def features(split: str) -> NDArray[np.float32]:
        return dequantize(arrays[f"x_{split}"], arrays[f"scales_{split}"])

    def labels(split: str) -> NDArray[Any]:
        return np.asarray(names[arrays[f"y_{split}"]])

    x_train = features("train")
    return Sample(
        name=name,
        x_train=x_train,
        y_train=labels("train"),
        x_test=features("test"),
        y_test=labels("test"),
        x_unknown=features("unknown") if "x_unknown" in arrays else np.empty((0, x_train.shape[1]), np.float32),
        card=card,
    )
