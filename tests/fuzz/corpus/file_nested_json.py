"""A file whose metadata is nested 100,000 deep ended in a RecursionError."""

import json
from pathlib import Path

from tests.fuzz.corpus._common import refuses_use, solved
from tests.fuzz.mutations import DEEP


def check(folder: Path) -> None:
    path = folder / "model.anacp"
    solved().save(path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"]["parameters"] = DEEP
    raw = json.dumps(header).encode()
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + content[8 + length :])
    refuses_use(path)
