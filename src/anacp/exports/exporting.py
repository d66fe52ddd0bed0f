"""`anacp.export`: a model file that onnxruntime alone predicts with."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anacp.backbones import write_graph
from anacp.encoders import Encoder
from anacp.errors import AnacpError, MismatchError, ParameterError, UnavailableError
from anacp.exports.deviation import Deviation
from anacp.exports.packing import STORED, pack
from anacp.extras import require
from anacp.files import replacing
from anacp.learners import Learner, Scoring
from anacp.methods import Classifier, Model, load
from anacp.version import __version__

OUTPUTS = ("scores", "probabilities")
LARGEST = 2**31 - 2**24  # bytes of numbers in one protobuf message, with room for the rest


@dataclass(frozen=True)
class Exported:
    """What was written, and how far it is from the library."""

    path: Path
    n_bytes: int
    inputs: tuple[str, ...]
    deviation: Deviation


def export(
    model: Model | str | Path, path: str | Path, *, with_backbone: bool = False, exact: bool = False
) -> Exported:
    """Write a model as one ONNX graph that predicts, and nothing else: no statistics, no way to go on learning.

    Its input is `features` (n, d), its outputs are `scores` and `probabilities` (n, c) in float32; the classes and how
    the numbers were stored are in its metadata. What is not solved yet is solved. The graph is compared with the
    library before the file is written.

    Parameters
    ----------
    model : Learner, Classifier, str or path
        A model, or a model file.
    path : str or path
        The file to write, which ends in .onnx.
    with_backbone : bool, default=False
        Put the classifier's backbone in front: then the inputs are those of the network, after preprocessing.
    exact : bool, default=False
        Store weights in float32, instead of 12 or 16 bits with a scale a row. The backbone's always are.

    Raises
    ------
    NumericalError
        If the graph deviates from the library by more than `anacp.exports.TOLERANCE`.
    UnavailableError
        If onnx or onnxruntime is not installed.
    """
    path = Path(path)
    if path.suffix != ".onnx" or path.is_dir():
        raise ParameterError(f"Expected a file to write that ends in .onnx, got {path}. Choose another name.")
    for package in ("onnx", "onnxruntime"):
        require(package, extra="texts", purpose="Exporting")
    learner, encoder = _parts(load(model) if isinstance(model, str | Path) else model, with_backbone=with_backbone)
    scoring = Scoring(learner)
    rows = scoring.examples()
    graph = _graph(scoring, {"features": rows[:2]}, OUTPUTS, fold=False)
    if not exact:
        pack(graph.graph)
    deviation = Deviation.between(_answer(graph, {"features": rows}), scoring.expected(rows))
    deviation.check(exact=exact)
    facts = _facts(scoring, deviation, exact=exact)
    if encoder is not None:
        graph = _behind(encoder, graph)
        example = encoder.parts[0].reader.example()
        features = np.concatenate([part.run(example) for part in encoder.parts], 1)
        Deviation.between(_answer(graph, example), scoring.expected(features)).check(exact=exact)
        facts |= _backbone_facts(encoder)
    require("onnx.helper", extra="texts", purpose="Exporting").set_model_props(graph, facts)
    graph.producer_name, graph.producer_version = "anacp", __version__
    content = _serialized(graph)
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return Exported(path, len(content), tuple(one.name for one in graph.graph.input), deviation)


def _parts(model: Model, *, with_backbone: bool) -> tuple[Learner[Any], Encoder | None]:
    if isinstance(model, Classifier):
        return model.learner, model.encoder if with_backbone else None
    if not isinstance(model, Learner):
        raise MismatchError(
            f"Expected a learner or a classifier, got {type(model).__name__}, a network of its own that was trained. "
            "Such networks cannot be exported."
        )
    if with_backbone:
        raise ParameterError(
            f"Expected a classifier, to put its backbone in front, got {type(model).__name__}, which learned features "
            "and knows no backbone. Export it without."
        )
    return model, None


def _graph(module: nn.Module, example: Mapping[str, NDArray[Any]], outputs: tuple[str, ...], *, fold: bool) -> Any:
    """Return the ONNX model of a module, or say that there is none."""
    onnx = require("onnx", extra="texts", purpose="Exporting")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graph.onnx"
        try:
            write_graph(module, example, outputs, path, fold=fold)
            return onnx.load(str(path))
        except AnacpError:
            raise
        except Exception as problem:
            reason = str(problem).partition("\n")[0]
            raise UnavailableError(
                f"Expected a model that torch can write as ONNX, got one that it cannot: {reason} It cannot be "
                "exported; predict with anacp itself."
            ) from problem


def _answer(graph: Any, arrays: Mapping[str, NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    onnxruntime = require("onnxruntime", extra="texts", purpose="Exporting")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(_serialized(graph), options, providers=["CPUExecutionProvider"])
    return tuple(session.run(list(OUTPUTS), dict(arrays)))


def _serialized(graph: Any) -> bytes:
    if sum(len(tensor.raw_data) for tensor in graph.graph.initializer) >= LARGEST:
        raise UnavailableError(
            "Expected a model of less than 2 GB, which is all that one ONNX file can hold, got a larger one. It cannot "
            "be exported; predict with anacp itself."
        )
    return bytes(graph.SerializeToString())


class _SideBySide(nn.Module):
    """The features of several networks as one row."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.parts = nn.ModuleList(copy.deepcopy(part.network).cpu() for part in encoder.parts)

    def forward(self, *inputs: Tensor) -> Tensor:
        return torch.cat([part(*inputs) for part in self.parts], 1)


def _behind(encoder: Encoder, graph: Any) -> Any:
    """Return the graph with the encoder's networks in front."""
    compose = require("onnx.compose", extra="texts", purpose="Exporting")
    network = _graph(_SideBySide(encoder), encoder.parts[0].reader.example(), ("features",), fold=True)
    network = compose.add_prefix(network, "backbone/", rename_inputs=False, rename_outputs=False)
    return compose.merge_models(network, graph, io_map=[("features", "features")])


def _facts(scoring: Scoring, deviation: Deviation, *, exact: bool) -> dict[str, str]:
    """Return what the file says of itself."""
    return {
        "classes": json.dumps(scoring.classes.tolist()),
        "learner": type(scoring.learner).__name__,
        "parameters": json.dumps(scoring.learner.get_params()),
        "n_features": str(scoring.learner.n_features_in_),
        "anacp_version": __version__,
        "stored": "float32" if exact else STORED,
        "deviation": json.dumps(asdict(deviation)),
    }


def _backbone_facts(encoder: Encoder) -> dict[str, str]:
    preprocessing = asdict(encoder.parts[0].identity.preprocessing)
    return {"backbone": json.dumps(encoder.origin.header()), "preprocessing": json.dumps(preprocessing)}
