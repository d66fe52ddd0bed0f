"""A torch network as an ONNX file."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from anacp.atomic import replacing
from anacp.backbones.network import PooledNetwork

__all__ = ["export"]

OPSET = 17


def export(network: PooledNetwork, example: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write the network for any number of inputs and, for texts, any number of tokens."""
    names = list(example)
    axes = {name: {0: "inputs", 1: "tokens"} if example[name].ndim == 2 else {0: "inputs"} for name in names}
    network.eval()
    # The exporter that needs no further package warns that it is deprecated, and that traced branches are fixed; the
    # caller compares the result with torch, which is the better warning.
    with replacing(path) as temporary, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            tuple(torch.from_numpy(array) for array in example.values()),
            str(temporary),
            dynamo=False,
            opset_version=OPSET,
            input_names=names,
            output_names=["features"],
            dynamic_axes=axes | {"features": {0: "inputs"}},
        )
