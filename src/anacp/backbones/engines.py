"""What runs a frozen network: onnxruntime on a CPU, torch with autocast on an accelerator."""

import contextlib
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from anacp.backbones.exported import OnnxEngine
from anacp.backbones.graph import write_graph
from anacp.backbones.network import PooledNetwork, weights_hash
from anacp.backbones.views import LAST_LAYER
from anacp.errors import NumericalError, ParameterError, UnavailableError
from anacp.files import home, replacing

EngineName = Literal["auto", "onnx", "torch"]
TOLERANCE = 1e-3  # of the largest feature, or of 1 if that is larger


class Engine(Protocol):
    """Arrays in, features out."""

    name: str
    batch_size: int  # the largest at which, on a CPU, every row has the bits that it has alone

    def run(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the features (n, d) of one batch."""


class TorchEngine:
    """Eager torch, in half precision where the device has it."""

    name = "torch"

    def __init__(self, network: PooledNetwork, device: str) -> None:
        self._network = network.to(device)
        self._device = torch.device(device)
        self.batch_size = 1 if self._device.type == "cpu" else 32  # convolutions of more take another algorithm

    def run(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the features of one batch; the network is in eval mode whatever happened to it before."""
        self._network.eval()
        on_cpu = self._device.type == "cpu"
        precision = contextlib.nullcontext() if on_cpu else torch.autocast(self._device.type)
        with torch.inference_mode(), precision:
            features = self._network(*(torch.from_numpy(array).to(self._device) for array in arrays.values()))
        return np.asarray(features.float().cpu().numpy())


def check_engine(engine: str, device: str) -> None:
    """Refuse an engine that cannot run, before anything is loaded."""
    if engine not in ("auto", "onnx", "torch"):
        raise ParameterError(f"Expected engine 'auto', 'onnx' or 'torch', got {engine!r}. Choose one of the three.")
    if engine == "onnx" and torch.device(device).type != "cpu":
        raise ParameterError(f"Expected device 'cpu' for engine 'onnx', got {device!r}. Use engine 'torch' there.")
    if engine == "onnx" and not _onnx_installed():
        raise UnavailableError(
            "Engine 'onnx' needs the packages onnxruntime and onnx: pip install onnxruntime onnx; "
            "or choose engine 'torch'."
        )


def make_engine(engine: EngineName, network: PooledNetwork, example: Mapping[str, NDArray[Any]], device: str) -> Engine:
    """Return the engine asked for; "auto" takes onnxruntime on a CPU if it is installed and agrees with torch."""
    eager = TorchEngine(network, device)
    if engine == "torch" or torch.device(device).type != "cpu" or not _onnx_installed():
        return eager
    try:
        return _checked_onnx(network, example, eager.run(example))
    except Exception as problem:
        if engine == "onnx":
            raise
        warnings.warn(f"onnxruntime cannot run this network, torch does ({problem})", RuntimeWarning, stacklevel=2)
        return eager


def _checked_onnx(
    network: PooledNetwork, example: Mapping[str, NDArray[Any]], expected: NDArray[np.float32]
) -> OnnxEngine:
    shapes = "-".join(str(side) for array in example.values() for side in array.shape[2:])
    layers = "" if network.layers == LAST_LAYER else "-layers" + "".join(f"{layer}" for layer in network.layers)
    pooling = network.pooling.replace(" ", "-")
    path = home() / "onnx" / f"{weights_hash(network)}-{pooling}-{shapes or 'text'}{layers}.onnx"
    # A cached file is compared too: another machine or version may compute with it differently, and settings that are
    # no weights (a number of heads, an adapter's scale) are not part of its name.
    if path.is_file():
        with contextlib.suppress(Exception):  # a damaged file counts as none
            cached = OnnxEngine(path)
            if _deviation(cached.run(example), expected) <= TOLERANCE:
                return cached
    with replacing(path) as temporary:
        write_graph(network, example, ["features"], temporary)
    fresh = OnnxEngine(path)
    deviation = _deviation(fresh.run(example), expected)
    if deviation > TOLERANCE:
        path.unlink()
        raise NumericalError(
            f"Expected the exported network to agree with torch to {TOLERANCE:g}, got a deviation of {deviation:.2g}. "
            "Use engine='torch' for this backbone."
        )
    return fresh


def _deviation(features: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    return float(np.abs(features - expected).max() / max(1.0, float(np.abs(expected).max())))


def _onnx_installed() -> bool:
    return find_spec("onnxruntime") is not None and find_spec("onnx") is not None
