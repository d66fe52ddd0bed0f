"""Small networks for the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adaptation.models import tiny
from tests.serve.serving import Asker, serving


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network for texts."""
    folder = tmp_path_factory.mktemp("serve-networks")
    tiny("bert", folder)
    return folder / "bert"


@pytest.fixture(scope="session")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network for photos."""
    folder = tmp_path_factory.mktemp("serve-networks")
    tiny("vit", folder)
    return folder / "vit"


@pytest.fixture
def texts(tmp_path: Path, bert: Path) -> Iterator[Asker]:
    """A service that has learned nothing yet."""
    with serving(tmp_path / "my.anacp", bert) as ask:
        yield ask


@pytest.fixture
def photos(tmp_path: Path, vit: Path) -> Iterator[Asker]:
    """The same for photos."""
    with serving(tmp_path / "my.anacp", vit) as ask:
        yield ask
