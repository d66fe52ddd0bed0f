"""A file with fewer classes than counts was accepted."""

from pathlib import Path

from tests.fuzz.corpus._common import changed, refuses_use, solved


def check(folder: Path) -> None:
    refuses_use(changed(folder, solved(), lambda header, _: header["classes"].pop()))
