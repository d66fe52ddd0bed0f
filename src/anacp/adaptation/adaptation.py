"""What adapting a backbone leaves behind: a few small matrices and the record of how they came about."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from anacp.adaptation.facts import ADAPTATION_FACTS
from anacp.adaptation.parts import Parts
from anacp.adaptation.plan import Recipe
from anacp.backbones import Backbone
from anacp.errors import MismatchError, ParameterError
from anacp.files import FileKind, TensorFile, write_tensors
from anacp.items import content_hash

ADAPTATION = FileKind("anacp-adaptation", 2, "an adaptation")


@dataclass(frozen=True, eq=False)
class Adaptation:
    """The trained parts of a backbone; made by `adapt`, put to use by `apply`."""

    recipe: Recipe
    seed: int
    base: str  # fingerprint of the backbone that was adapted
    data: str  # hash of the items and labels it was trained on
    tensors: Mapping[str, Tensor]

    @property
    def fingerprint(self) -> str:
        """Recipe and seed in words, then a hash of recipe, seed, base, data and the trained weights."""
        parts = [json.dumps(self.header(), sort_keys=True).encode()]
        for name, tensor in sorted(self.tensors.items()):
            parts += [f"{name} {tuple(tensor.shape)}".encode(), tensor.numpy().tobytes()]
        return f"{self.recipe.name} seed {self.seed} {content_hash(*parts)}"

    def apply(self, backbone: Backbone) -> Backbone:
        """Return the adapted backbone; any but the one that was adapted is refused."""
        if backbone.fingerprint != self.base:
            raise MismatchError(
                f"Expected the backbone of fingerprint {self.base}, got {backbone.fingerprint} "
                f"({backbone.preset.name}). Use the backbone that was adapted, with the same weights."
            )
        network = backbone.module()
        parts = Parts.inside(network, self.recipe, self.seed)
        parts.load_(self.tensors)
        return backbone.with_module(parts.finished(), self.fingerprint)

    def save(self, path: str | Path) -> None:
        """Write one safetensors file, all or nothing; `Adaptation.load` reads it back."""
        write_tensors(path, ADAPTATION, self.header(), self.tensors)

    @classmethod
    def load(cls, path: str | Path) -> "Adaptation":
        """Return what `save` wrote, or say what is wrong with the file."""
        file = TensorFile(path, ADAPTATION)
        file.check_header(ADAPTATION_FACTS)
        cls.check_tensors(file, file.header)
        return cls.restored(file.header, file.tensors())

    @classmethod
    def restored(cls, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "Adaptation":
        """Return it from what `header` gave, in whatever file that was kept."""
        seed, base, data = (header[key] for key in ("seed", "base", "data"))
        return cls(Recipe(**header["recipe"]), seed, base, data, tensors)

    @staticmethod
    def check_tensors(file: TensorFile, header: Mapping[str, Any], prefix: str = "") -> None:
        """Refuse a file whose recipe cannot be, or whose tensors are not pairs of matrices of its rank.

        Which places of a network they belong to is told by the network, when they are applied.
        """
        try:
            rank = Recipe(**header["recipe"]).rank
        except ParameterError as problem:
            raise file.damage(problem) from problem
        found = file.outlines(prefix)
        places = {name.removesuffix(".down") for name in found if name.endswith(".down")}
        if not places or found.keys() != {f"{place}.{part}" for place in places for part in ("down", "up")}:
            raise file.damage("its matrices are not pairs of down and up")
        for name, one in found.items():
            inner = one.shape[0 if name.endswith("down") else 1] if one.ndim == 2 else None
            if inner != rank or one.dtype != torch.float32:
                raise file.damage(f"{prefix}{name} is {one.dtype} {list(one.shape)}, not a matrix of rank {rank}")

    def header(self) -> dict[str, Any]:
        """Return everything but the tensors, ready for JSON."""
        return {"recipe": asdict(self.recipe), "seed": self.seed, "base": self.base, "data": self.data}
