"""The page in a real browser: every figure shows, nothing overflows, and the console stays silent."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from anacp.reports import report
from tests.reports.folders import SUBSTITUTE, write_collection, write_embedding

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (Debian: apt-get install chromium)")

# Added to a copy of the page, which itself has no script: it measures once everything is laid out.
MEASURE = """<script>
addEventListener("load", () => {
  const box = (element) => element.getBoundingClientRect();
  const all = (selector) => [...document.querySelectorAll(selector)];
  const root = document.documentElement;
  parent.postMessage(JSON.stringify({
    page: root.scrollWidth,
    window: root.clientWidth,
    images: all("img").map((image) => [image.complete, image.naturalWidth, box(image).width, box(image).height]),
    wide: all("body *").filter((element) => box(element).right > innerWidth + 1 && !element.closest(".scroll"))
      .map((element) => element.tagName + " " + element.className),
    scrolls: all(".scroll").filter((element) => element.scrollWidth > element.clientWidth).length,
  }), "*");
});
</script>"""

# A browser window has a least width; a frame within it is as narrow as a phone.
FRAME = """<!DOCTYPE html><title>frame</title><link rel="icon" href="data:,"><pre id="measured"></pre>
<script>addEventListener("message", (event) => document.getElementById("measured").textContent = event.data);</script>
<iframe src="measured.html" style="width: {width}px; height: 900px; border: 0"></iframe>"""


def browse(page: Path, folder: Path) -> tuple[str, list[str]]:
    """Return the page as the browser holds it after loading, and what the console said."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--hide-scrollbars", f"--user-data-dir={folder}", "--window-size=1400,1000", "--enable-logging=stderr",
        "--virtual-time-budget=5000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    write_collection(root, substitute=SUBSTITUTE, n_tasks=10)
    write_embedding(root / "AnaCP-seed0")
    (written,) = report(root, root / "report.html")
    copy = root / "measured.html"
    copy.write_text(written.read_text().replace("</body>", f"{MEASURE}</body>"))
    return copy


@pytest.mark.parametrize("width", [390, 1280], ids=["phone", "desktop"])
def test_in_a_browser(page: Path, width: int, tmp_path) -> None:
    frame = page.with_name(f"frame{width}.html")
    frame.write_text(FRAME.format(width=width))
    shown, said = browse(frame, tmp_path)
    found = re.search(r'<pre id="measured">(.*?)</pre>', shown)
    assert found is not None
    measured = json.loads(unescape(found.group(1)))
    assert measured["window"] == width
    assert measured["page"] <= width
    assert measured["wide"] == []
    assert len(measured["images"]) == 6
    for complete, natural, wide, high in measured["images"]:
        assert complete
        assert natural > 0
        assert wide > 300
        assert high > 60
    assert (measured["scrolls"] > 0) == (width == 390)
    assert said == []


def test_an_error_in_the_console_would_be_seen(tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!DOCTYPE html><title>x</title><script>console.error('seen')</script>")
    _, said = browse(page, tmp_path / "profile")
    assert len(said) == 1
