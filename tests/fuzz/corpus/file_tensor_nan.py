"""A file with NaN in a tensor was accepted."""

from pathlib import Path

from tests.fuzz.corpus._common import changed, refuses_use, solved


def check(folder: Path) -> None:
    refuses_use(changed(folder, solved(), lambda _, tensors: tensors["solution.means"].fill_(float("nan"))))
