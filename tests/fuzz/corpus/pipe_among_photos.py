"""A FIFO named like a photo blocked for ever."""

import os
from pathlib import Path

from anacp.encoders import Encoder
from anacp.errors import AnacpError
from tests.backbones.test_backbone import small


def check(folder: Path) -> None:
    (folder / "cats").mkdir()
    os.mkfifo(folder / "cats" / "one.png")
    try:
        Encoder(small()).encode([folder / "cats" / "one.png"])
    except AnacpError as problem:
        assert "\n" not in str(problem)
        return
    raise AssertionError("a pipe was read")
