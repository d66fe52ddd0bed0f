"""A file with fewer than no examples of a class was accepted."""

from pathlib import Path

from tests.fuzz.corpus._common import changed, refuses_use, solved


def check(folder: Path) -> None:
    refuses_use(changed(folder, solved(), lambda _, tensors: tensors["moments.counts"].fill_(-1)))
