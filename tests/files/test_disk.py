"""A disk that fails is told in one line, by the name of the file that was meant."""

import subprocess
import sys
from pathlib import Path

import pytest

import anacp
from anacp.errors import AnacpError, DiskError
from anacp.files import locked, replacing
from tests.conftest import blobs

SAVE = """
import resource, sys, anacp
from anacp.errors import DiskError
from tests.conftest import blobs
model = anacp.GACL(n_projected=200).fit(*blobs())
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    model.save(sys.argv[1])
except DiskError as problem:
    print(problem)
"""


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "model.anacp"
    anacp.NCM().fit(*blobs()).save(path)
    before = path.read_bytes()
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", SAVE, str(path)], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"Expected to write {path}, got: File too large. Raise the limit of a file's size, or write elsewhere.\n"
    )
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["model.anacp"]


@pytest.mark.parametrize("use", [replacing, locked])
def test_a_place_that_is_no_place_names_the_file_and_no_hidden_one(use, tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    with pytest.raises(DiskError, match=f"Expected to write {path}, got: File name too long") as refused, use(path):
        pass
    assert isinstance(refused.value, AnacpError)
    assert refused.value.errno


def test_what_is_no_fault_of_the_disk_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "file"):
        1 / 0  # noqa: B018
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "file"):
        pass  # nothing was written
