"""What an encoder cost: rows computed, files opened, contents digested."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anacp.encoders import Encoder
from anacp.items import EncodedImage
from tests.backbones.models import pictures
from tests.backbones.test_backbone import small

_opened: list[Counter[str]] = []


def _audit(event: str, details: tuple) -> None:
    if event == "open" and _opened:
        _opened[-1][str(details[0])] += 1


sys.addaudithook(_audit)


@contextmanager
def opened_files() -> Iterator[Counter[str]]:
    """How often each path is opened, by anything in this process."""
    _opened.append(Counter())
    try:
        yield _opened[-1]
    finally:
        _opened.pop()


class Counting:
    """An encoder of images and how many rows its network computed."""

    def __init__(self, engine: str = "torch") -> None:
        backbone = small(engine)
        self.rows = 0
        compute = backbone.compute

        def counted(arrays):
            self.rows += len(arrays["pixel_values"])
            return compute(arrays)

        backbone.compute = counted
        self.encoder = Encoder(backbone)


class CountedImage(EncodedImage):
    """A file in memory that knows how often it was read, and digested by itself."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.content = path.read_bytes()
        self.reads = self.digests = 0

    def read(self) -> bytes:
        self.reads += 1
        return self.content

    def digest(self) -> str:
        self.digests += 1
        return super().digest()


def image_files(folder: Path, n: int, seed: int = 0) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:03}.png" for number in range(n)]
    for path, image in zip(paths, pictures(n, seed), strict=True):
        image.save(path)
    return paths
