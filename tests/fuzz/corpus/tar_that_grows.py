"""A tar.gz file of 6 MB wrote 6.4 GB beside itself."""

import struct
import tarfile
import zlib
from pathlib import Path

from anacp.datasets import read_labelled
from anacp.errors import AnacpError
from tests.fuzz.corpus._bombs import BLOCK, BLOCKS, deflated

GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"


def check(folder: Path) -> None:
    path = folder / "photos.tar.gz"
    member = tarfile.TarInfo("cats/one.png")
    member.size = len(BLOCK) * BLOCKS - 1024
    stored = member.tobuf()
    checksum = zlib.crc32(stored)
    for _ in range(BLOCKS):
        checksum = zlib.crc32(BLOCK, checksum)
    # A stored block with the tar's own header, then the zeros.
    start = b"\x00" + struct.pack("<HH", len(stored), len(stored) ^ 0xFFFF) + stored
    path.write_bytes(GZIP + start + deflated() + struct.pack("<II", checksum, len(stored) + len(BLOCK) * BLOCKS))
    try:
        read_labelled(path)
    except AnacpError as problem:
        assert "\n" not in str(problem)
    written = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
    assert written < 100_000_000, f"{written:,} bytes are beside it"
    assert not [one for one in folder.rglob("*") if one.name.endswith(".part")]
