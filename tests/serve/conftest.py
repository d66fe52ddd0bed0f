"""Small networks for the service, and a browser for its page."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.adaptation.models import tiny
from tests.methods.inputs import folder
from tests.serve.driving import Server, chromium, visited
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of the system."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of photos, and one of something else."""
    made = folder(tmp_path_factory.mktemp("photos"), ["blue", "red", "yellow"], range(4))
    Image.fromarray((np.indices((96, 96)).sum(0) // 12 % 2 * 255).astype(np.uint8)).save(made / "chessboard.png")
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of photos that tests share; each begins with what it teaches, and with nothing else."""
    with Server(tmp_path_factory.mktemp("model") / "m.anacp", "--learner", "NCM") as started:
        yield started


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """The page of that server."""
    done = [one for one in server.ask("history?limit=1000")["events"] if not one["undone"]]
    if done:
        server.ask("undo", {"steps": len(done)})
    with visited(browser, server.address) as found:
        yield found
