"""What adapting a backbone leaves behind: a few small matrices and the record of how they came about."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from anacp.adaptation.parts import Parts
from anacp.adaptation.recipes import Recipe
from anacp.atomic import replacing
from anacp.backbones import Backbone
from anacp.errors import MismatchError, ModelFileError
from anacp.version import __version__

__all__ = ["Adaptation"]

FORMAT, FORMAT_VERSION = "anacp-adaptation", 1


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
        digest = hashlib.blake2b(json.dumps(self._header(), sort_keys=True).encode(), digest_size=16)
        for name in sorted(self.tensors):
            digest.update(f"{name} {tuple(self.tensors[name].shape)}".encode())
            digest.update(self.tensors[name].contiguous().reshape(-1).numpy().view(np.uint8).data)
        return f"{self.recipe.name} seed {self.seed} {digest.hexdigest()}"

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
        metadata = {"format": FORMAT, "format_version": str(FORMAT_VERSION), "written_by": f"anacp {__version__}"}
        metadata |= {key: json.dumps(value) for key, value in self._header().items()}
        with replacing(Path(path)) as temporary:
            save_file({name: tensor.contiguous() for name, tensor in self.tensors.items()}, temporary, metadata)

    @classmethod
    def load(cls, path: str | Path) -> "Adaptation":
        """Return what `save` wrote, or say what is wrong with the file."""
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"No adaptation at {path}. Check the path, or write one with `save`.")
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                _check_format(path, metadata)
                tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            header = {key: json.loads(metadata[key]) for key in ("recipe", "seed", "base", "data")}
            return cls(Recipe(**header.pop("recipe")), tensors=tensors, **header)
        except (SafetensorError, KeyError, TypeError) as problem:
            raise ModelFileError(
                f"Expected an adaptation, got a file that is truncated or of another kind: {path} ({problem}). "
                "Copy it again from its source, or adapt the backbone again."
            ) from problem

    def _header(self) -> dict[str, Any]:
        return {"recipe": asdict(self.recipe), "seed": self.seed, "base": self.base, "data": self.data}


def _check_format(path: Path, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelFileError(
            f"Expected an adaptation, got a safetensors file of another kind: {path}. Give a file written by `save`."
        )
    version = int(metadata.get("format_version", 0))
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"Expected format version {FORMAT_VERSION} or older, got {version} (written by "
            f"{metadata.get('written_by', 'an unknown version')}): {path}. Upgrade anacp to read it."
        )
