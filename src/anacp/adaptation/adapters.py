"""Adapters: a low-rank linear path beside the MLP of every block of a transformer.

With x what enters the MLP, a block computes MLP(x) + up(down(x)) instead of MLP(x), whether the block norms before the
MLP or after it. Wrapper modules do this, so that a traced or exported network contains it.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

from anacp.backbones import blocks_of
from anacp.errors import MismatchError

WHOLE = ("mlp", "ffn")  # ViT, DINO-v2, CLIP and others; DistilBERT


class Parallel(nn.Module):
    """An MLP that is one module, and the path beside it."""

    def __init__(self, mlp: nn.Module, down: nn.Linear, up: nn.Linear) -> None:
        super().__init__()
        self.mlp, self.down, self.up = mlp, down, up

    def forward(self, x: Tensor) -> Tensor:
        """Return MLP(x) + up(down(x))."""
        return cast(Tensor, self.mlp(x) + self.up(self.down(x)))


class Widened(nn.Module):
    """The first half of an MLP that is two modules: what `down` computes travels beside the hidden units."""

    def __init__(self, first: nn.Module, down: nn.Linear) -> None:
        super().__init__()
        self.first, self.down = first, down

    def forward(self, x: Tensor) -> Tensor:
        """Return the hidden units and, after them, down(x)."""
        return torch.cat([self.first(x), self.down(x)], -1)


class Narrowed(nn.Module):
    """The last layer of an MLP that is two modules: takes apart what `Widened` put together."""

    def __init__(self, last: nn.Linear, up: nn.Linear) -> None:
        super().__init__()
        self.last, self.up = last, up

    def forward(self, x: Tensor) -> Tensor:
        """Return the last layer of the hidden units, plus `up` of the rest."""
        width = self.last.in_features
        return cast(Tensor, self.last(x[..., :width]) + self.up(x[..., width:]))


def insert_adapters(network: nn.Module, rank: int) -> dict[str, Tensor]:
    """Put an adapter of that rank beside every block's MLP and return its weights, still without values, by name."""
    parameters: dict[str, Tensor] = {}
    for block in blocks_of(network):
        pair = _insert(block, rank)
        if pair is not None:
            number = len(parameters) // 2
            parameters[f"{number}.down"], parameters[f"{number}.up"] = pair[0].weight, pair[1].weight
    if not parameters:
        raise MismatchError(
            f"Expected a transformer of blocks with an MLP, such as ViT, DINO-v2 or BERT, got {type(network).__name__}."
            " Use this backbone without adaptation, or choose a transformer."
        )
    return parameters


def _insert(block: nn.Module, rank: int) -> tuple[nn.Linear, nn.Linear] | None:
    for name in WHOLE:
        mlp = getattr(block, name, None)
        if isinstance(mlp, nn.Module) and (pair := _pair(mlp, rank)) is not None:
            setattr(block, name, Parallel(mlp, *pair))
            return pair
    first, output = getattr(block, "intermediate", None), getattr(block, "output", None)  # BERT and its kin
    last = getattr(output, "dense", None)
    if not isinstance(first, nn.Module) or not isinstance(output, nn.Module) or not isinstance(last, nn.Linear):
        return None
    pair = _pair(nn.ModuleList([first, last]), rank)
    if pair is not None:
        block.intermediate, output.dense = Widened(first, pair[0]), Narrowed(last, pair[1])
    return pair


def _pair(mlp: nn.Module, rank: int) -> tuple[nn.Linear, nn.Linear] | None:
    """Return `down` and `up` for an MLP from some width to the same width; None for anything else."""
    layers = [module for module in mlp.modules() if isinstance(module, nn.Linear)]
    if not layers or layers[0].in_features != layers[-1].out_features:
        return None
    width = layers[0].in_features
    return _empty_linear(width, rank), _empty_linear(rank, width)


def _empty_linear(n_inputs: int, n_outputs: int) -> nn.Linear:
    """Return a layer without values; one made the usual way would draw them from the global random state."""
    return cast(nn.Linear, skip_init(nn.Linear, n_inputs, n_outputs, bias=False))  # type: ignore[no-untyped-call]
