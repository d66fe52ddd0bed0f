"""Bits of the header could change unnoticed: a label, a parameter, a date."""

from pathlib import Path

from tests.fuzz.corpus._common import refuses_use, solved


def check(folder: Path) -> None:
    path = folder / "model.anacp"
    solved().save(path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    for place in range(0, 8 + length, 7):
        path.unlink()
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        try:
            refuses_use(path)
        except BaseException as problem:
            raise AssertionError(f"bit 2 of byte {place}: {type(problem).__name__}: {problem}") from problem
