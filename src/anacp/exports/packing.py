"""The numbers of a graph in fewer bits, and the plain ONNX nodes that make them again when a session starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.extras import require

BITS = {2**18: 12, 2**12: 16}  # of a weight, for tensors of so many numbers or more; smaller ones stay as they are
STORED = "weights in 12 bits (16 in matrices of less than 262,144) with a scale a row, whole numbers exactly"
WIDTHS = (8, 9, 10, 12, 16)  # bits that are one byte and a rest of which whole ones fit into another


def pack(graph: Any) -> None:
    """Store each large tensor of a graph in few bits: whole numbers exactly, a matrix of weights with a scale a row."""
    numpy_helper = require("onnx.numpy_helper", extra="texts", purpose="Exporting")
    kept, made = [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.size < min(BITS) or values.ndim < 2 or values.dtype not in (np.float32, np.int16):
            kept.append(tensor)
            continue
        packed = Packed(tensor.name)
        packed.add(values)
        kept += packed.tensors
        made += packed.nodes
    nodes = [*made, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(nodes)


class Packed:
    """One tensor as its few bits and the nodes that make it: `tensors` and `nodes`, named after it."""

    def __init__(self, name: str) -> None:
        self._helper = require("onnx.helper", extra="texts", purpose="Exporting")
        self._from_array = require("onnx.numpy_helper", extra="texts", purpose="Exporting").from_array
        self.name = name
        self.tensors: list[Any] = []
        self.nodes: list[Any] = []

    def add(self, values: NDArray[Any]) -> None:
        """Store values (…, n) and make them again."""
        if values.dtype == np.float32:
            bits = next(bits for size, bits in BITS.items() if values.size >= size)
            largest = np.abs(values).max(-1, keepdims=True)  # of each row
            scale = (largest / (2 ** (bits - 1) - 1)).astype(np.float32)
            scale[scale < np.finfo(np.float32).tiny] = 1  # a row of nothing, or of hardly more: it becomes nothing
            whole = np.rint(values / scale).astype(np.int64)
        else:
            scale, whole = np.ones((), np.float32), values.astype(np.int64)
            bits = next(width for width in WIDTHS if np.ptp(whole) < 2**width)
        least = whole.min()
        made = self._whole(whole - least, bits)
        made = self._node("Mul", self._node("Add", made, self._held(np.float32(least))), self._held(scale))
        self._node("Cast", made, to=self._helper.np_dtype_to_tensor_dtype(values.dtype), output=self.name)

    def _whole(self, whole: NDArray[np.int64], bits: int) -> str:
        """Store numbers ≥ 0 of so many bits: the high 8 as bytes, the rest of several numbers in one byte."""
        rest = bits - 8
        made = self._floats((whole >> rest).astype(np.uint8))
        if not rest:
            return made
        share = 8 // rest  # numbers a byte
        low = (whole & (2**rest - 1)).ravel()
        low = np.pad(low, (0, -low.size % share)).reshape(share, -1)
        powers = 2 ** (rest * np.arange(share)[:, None])
        together = self._floats((low * powers).sum(0).astype(np.uint8))
        digits = self._node("Floor", self._node("Div", together, self._held(powers.astype(np.float32))))
        digits = self._node("Mod", digits, self._held(np.float32(2**rest)), fmod=1)
        flat = self._node("Reshape", digits, self._held(np.array([-1])))
        cut = self._node("Slice", flat, self._held(np.array([0])), self._held(np.array([whole.size])))
        low_part = self._node("Reshape", cut, self._held(np.array(whole.shape)))
        return self._node("Add", self._node("Mul", made, self._held(np.float32(2**rest))), low_part)

    def _floats(self, stored: NDArray[np.uint8]) -> str:
        return self._node("Cast", self._held(stored), to=self._helper.np_dtype_to_tensor_dtype(np.dtype(np.float32)))

    def _held(self, values: Any) -> str:
        name = f"{self.name}/{len(self.tensors)}"
        self.tensors.append(self._from_array(np.asarray(values), name))
        return name

    def _node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{self.name}/{operator}{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(operator, inputs, [output], **attributes))
        return output
