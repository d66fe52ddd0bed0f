"""One model, one safetensors file: readable metadata, no pickle, written all or nothing."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from anacp.atomic import replacing
from anacp.errors import MissingDataError, ModelFileError
from anacp.version import __version__

__all__ = ["FORMAT_VERSION", "read_model", "write_model"]

FORMAT = "anacp-model"
FORMAT_VERSION = 1


def write_model(path: str | Path, header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write to a neighbouring temporary file, then rename: a crash leaves the old file or the new one, never half."""
    path = Path(path)
    metadata = {"format": FORMAT, "format_version": str(FORMAT_VERSION), "written_by": f"anacp {__version__}"}
    metadata |= {key: json.dumps(value) for key, value in header.items()}
    with replacing(path) as temporary:
        save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, temporary, metadata)


def read_model(path: str | Path, *, only: Collection[str] | None = None) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return header and tensors of a model file, or only the tensors named; or say what is wrong with it."""
    path = Path(path)
    if not path.is_file():
        raise MissingDataError(f"No model file at {path}. Check the path, or write one with `save`.")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            _check_format(path, metadata)
            # A copy of its own: products differ in the last digit between numbers that lie aligned in memory or not.
            wanted = [name for name in file.keys() if only is None or name in only]  # noqa: SIM118 (not a dictionary)
            tensors = {name: file.get_tensor(name).clone() for name in wanted}
    except SafetensorError as problem:
        raise ModelFileError(
            f"Expected an anacp model, got a file that is truncated or of another kind: {path} ({problem}). "
            "Copy it again from its source, or save the model anew."
        ) from problem
    plain = {"format", "format_version", "written_by"}
    header = {key: json.loads(value) for key, value in metadata.items() if key not in plain}
    return header | {"written_by": metadata.get("written_by", "an unknown version")}, tensors


def _check_format(path: Path, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelFileError(
            f"Expected an anacp model, got a safetensors file of another kind: {path}. Give a file written by `save`."
        )
    version = int(metadata.get("format_version", 0))
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"Expected format version {FORMAT_VERSION} or older, got {version} (written by "
            f"{metadata.get('written_by', 'an unknown version')}): {path}. Upgrade anacp to read it."
        )
