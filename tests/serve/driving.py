"""A server in a process of its own, and a real browser that is driven: for the tests of the page, its pictures and its times."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--use-fake-device-for-media-stream",
             "--use-fake-ui-for-media-stream"]  # fmt: skip
WAIT = 20_000  # milliseconds; of a loaded machine
expect.set_options(timeout=WAIT)


class Server:
    """`anacp serve` as a person starts it."""

    def __init__(self, model: Path, *options: object) -> None:
        self.command = [sys.executable, "-m", "anacp", "serve", str(model), "--port", "0", *map(str, options)]
        self.process: subprocess.Popen[str] | None = None
        self.address = ""

    def start(self) -> "Server":
        log = Path(os.environ["ANACP_HOME"]) / "serve.log" if "ANACP_HOME" in os.environ else None
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=log.open("a") if log else None, text=True
        )
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            if found := re.search(r"http://\S+:\d+", line):
                self.address = found.group().rstrip("/.")
                return self
        raise AssertionError(f"the server ended: {said} {log.read_text() if log else ''}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.returncode is None:
            self.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of the system, without a window."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def visited(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    """The page at an address; what the console says in the end must be nothing, nor may anything come from elsewhere."""
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 860}} | options))
    page = context.new_page()
    page.set_default_timeout(WAIT)
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("request", lambda one: None if one.url.startswith((address, "blob:", "data:")) else said.append(one.url))
    page.goto(address)
    yield page
    context.close()
    assert said == []


def drop(page: Page, target: Locator, files: Sequence[Path]) -> None:
    """Let files or folders of the disk fall onto a place, as from a window of the desktop."""
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    place = {"x": box["x"] + min(40, box["width"] / 2), "y": box["y"] + min(20, box["height"] / 2)}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **place})
    session.detach()


def card(page: Page, label: str) -> Locator:
    """The card of a class."""
    return page.locator(f'.class[data-label="{label}"]')
