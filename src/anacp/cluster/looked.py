"""What rows are by their content, kept by the driver: a second start need not read the shards for that again."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch

from anacp.cluster.worker import Looked
from anacp.errors import AnacpError
from anacp.files import FileKind, TensorFile, write_tensors

KIND = FileKind("anacp-looked", 1, "a shard's digests", sealed_since=1, noted=False)


def keep_looked(folder: Path, number: int, looked: Looked) -> None:
    """Keep what a shard was found to hold."""
    parts = {"offsets": looked.offsets, "digests": looked.digests}
    tensors = {name: torch.from_numpy(np.array(part)) for name, part in parts.items()}
    write_tensors(_path(folder, number), KIND, {"unread": [list(one) for one in looked.unread]}, tensors)


def kept_looked(folder: Path, number: int) -> Looked | None:
    """Return what a shard was found to hold; None if that is not here, or damaged."""
    with suppress(AnacpError, json.JSONDecodeError, KeyError, ValueError):
        file = TensorFile(_path(folder, number), KIND)
        unread = [(int(offset), str(reason)) for offset, reason in file.header["unread"]]
        return Looked(file.array("offsets"), file.array("digests"), unread)
    return None


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number}.looked"
