"""A torch module as an ONNX graph."""

import contextlib
import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

OPSET = 17


def write_graph(
    module: nn.Module, example: Mapping[str, NDArray[Any]], outputs: Sequence[str], path: Path, *, fold: bool = True
) -> None:
    """Write the module for any number of rows and, where rows are whole numbers, of any number of tokens.

    Branches are taken as the example takes them. Without `fold`, what follows from the module's own numbers alone is
    computed when a session starts, instead of being written.
    """
    rows = {name: {0: "rows"} for name in outputs}
    tokens = {
        name: {0: "rows", 1: "tokens"} for name, array in example.items() if np.issubdtype(array.dtype, np.integer)
    }
    torch.onnx.register_custom_op_symbolic("aten::mT", _transposed, OPSET)  # type: ignore[attr-defined]
    module.eval()
    # The exporter that needs no further package warns that it is deprecated, and that traced branches are fixed, and
    # prints whole graphs where it fails; the caller compares the result with torch, which is the better warning.
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            tuple(torch.from_numpy(array) for array in example.values()),
            str(path),
            dynamo=False,
            opset_version=OPSET,
            do_constant_folding=fold,
            input_names=list(example),
            output_names=list(outputs),
            dynamic_axes={name: {0: "rows"} for name in example} | tokens | rows,
        )


def _transposed(graph: Any, matrices: Any) -> Any:
    """Say what the exporter does not know: `.mT`."""
    *others, last, end = range(matrices.type().dim())
    return graph.op("Transpose", matrices, perm_i=[*others, end, last])
