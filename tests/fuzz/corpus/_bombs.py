"""Small files that grow."""

import struct
import zlib

BLOCK = bytes(1 << 24)
BLOCKS = 96  # 1.5 GB


def deflated() -> bytes:
    """Return 1.5 GB of zeros, deflated; one block is compressed, and repeated."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = squeeze.compress(BLOCK) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return block * BLOCKS + squeeze.flush(zlib.Z_FINISH)


def zipped(name: str) -> bytes:
    """Return a zip file of one member."""
    data, size, raw = deflated(), len(BLOCK) * BLOCKS, name.encode()
    sizes = struct.pack("<IIIHH", 0, len(data), size, len(raw), 0)
    local = b"PK\x03\x04" + struct.pack("<HHHHH", 20, 0, 8, 0, 33) + sizes + raw + data
    entry = b"PK\x01\x02" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 33) + sizes
    entry += struct.pack("<HHHII", 0, 0, 0, 0, 0) + raw
    return local + entry + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
