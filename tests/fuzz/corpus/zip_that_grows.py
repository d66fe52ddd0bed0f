"""A zip file of 3 MB became 3 GB of memory."""

from pathlib import Path

from anacp.datasets import read_labelled
from anacp.items import hold
from tests.fuzz.corpus._bombs import zipped
from tests.fuzz.corpus._common import refused


def check(folder: Path) -> None:
    path = folder / "photos.zip"
    path.write_bytes(zipped("cats/one.png"))

    def read() -> None:
        for item in read_labelled(path).items:
            hold(item, "image")

    refused(read)
