"""A server in a process of its own and a real browser that is driven: for tests, pictures and times of the page."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect, sync_playwright

from tests.backbones.models import needs_lite0

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--use-fake-device-for-media-stream",
             "--use-fake-ui-for-media-stream"]  # fmt: skip
NEEDS = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (Debian: apt-get install chromium)"),
    needs_lite0,
]  # of tests of the page
NOT_THERE = "net::ERR_"  # what a browser says of a server that was ended
WAIT = 20_000  # milliseconds; of a loaded machine
expect.set_options(timeout=WAIT)


class Server:
    """`anacp serve` as a person starts it; `options` are for a model that is not there yet, `always` for any."""

    def __init__(
        self, model: Path, *options: object, port: int = 0, always: Sequence[str] = (), environment: Any = None
    ) -> None:
        self.model, self.options, self.port, self.always = model, options, port, always
        self.environment = os.environ | (environment or {})
        self.process: subprocess.Popen[str] | None = None
        self.address = ""

    def start(self) -> "Server":
        """Start it and wait until it answers; once started, it comes back under the same address."""
        options = () if self.model.exists() else self.options
        command = [sys.executable, "-m", "anacp", "serve", self.model, "--port", self.port, *self.always, *options]
        log = self.model.with_suffix(".log")
        with log.open("w") as said:
            self.process = subprocess.Popen(
                list(map(str, command)), stdout=said, stderr=subprocess.STDOUT, env=self.environment
            )
        while (found := re.search(r"http://[\w.]+:(\d+)", log.read_text())) is None:
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.05)
        self.address, self.port = found.group(), int(found.group(1))
        return self

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it, politely or not."""
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(60)

    def ask(self, path: str, given: object = None) -> Any:
        """Return what the service answers to a request without the page."""
        body = None if given is None else json.dumps(given).encode()
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(f"{self.address}/v1/{path}", body, headers), timeout=60) as answer:
            return json.load(answer)

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
def visited(browser: Browser, address: str, *, allowed: str = NOT_THERE, **options: Any) -> Iterator[Page]:
    """The page at an address. In the end the console must have said nothing, and nothing come from elsewhere.

    What is `allowed`, a pattern, may have been said: by default that a server, which was ended, does not answer.
    """
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 860}} | options))
    page = context.new_page()
    page.set_default_timeout(WAIT)
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    own = (address, f"blob:{address}", "data:")
    page.on("request", lambda one: None if one.url.startswith(own) else said.append(one.url))
    page.goto(address)
    yield page
    context.close()
    said = [one for one in said if not re.search(allowed, one)]
    assert said == [], said


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


def held(page: Page, path: str = "**/v1/learn*", *, passing: int = 1) -> Callable[[], None]:
    """Hold the requests to a path, after some that pass, as a slow service would; return what lets them go."""
    seen: list[Route] = []
    over = False

    def hold(route: Route) -> None:
        seen.append(route)
        if over or len(seen) <= passing:
            route.continue_()

    def release() -> None:
        nonlocal over
        over = True
        for route in seen[passing:]:
            route.continue_()

    page.route(path, hold)
    return release


def card(page: Page, label: str) -> Locator:
    """The card of a class."""
    return page.locator(f'.class[data-label="{label}"]')


def examples(page: Page, label: str) -> Locator:
    """What the page shows of a class, without what is still on its way."""
    return card(page, label).locator("[role=option]")


def choose(page: Page, label: str, words: str) -> None:
    """Choose from the menu of a class."""
    card(page, label).locator("summary").click()
    card(page, label).locator(".menu").get_by_role("button", name=words).click()
