"""The page in a real browser: every figure shows, nothing overflows, and the console stays silent."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from anacp.experiments import Specification
from anacp.paper import TABLES, Cell
from anacp.reports import report
from tests.reports.made import SUBSTITUTE, TEN, make, of_table1, write_features

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
    scrolls: all(".scroll").filter((element) => element.scrollWidth > element.clientWidth)
      .map((element) => element.parentElement.id),
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


def measured(runs: list[Path], width: int, folder: Path) -> dict[str, Any]:
    """Write the report of runs and measure it in a window of that width."""
    (written,) = report(runs, folder / "report.html")
    (folder / "measured.html").write_text(written.read_text().replace("</body>", f"{MEASURE}</body>"))
    (folder / "frame.html").write_text(FRAME.format(width=width))
    shown, said = browse(folder / "frame.html", folder / "profile")
    found = re.search(r'<pre id="measured">(.*?)</pre>', shown)
    assert found is not None
    assert said == []
    facts: dict[str, Any] = json.loads(unescape(found.group(1)))
    assert facts["window"] == width
    assert facts["page"] <= width
    assert facts["wide"] == []
    return facts


@pytest.mark.parametrize("width", [390, 1280], ids=["phone", "desktop"])
def test_in_a_browser(table1: Path, ablation: Path, width: int, tmp_path: Path) -> None:
    facts = measured([table1, ablation], width, tmp_path)
    assert len(facts["images"]) == 6
    for complete, natural, wide, high in facts["images"]:
        assert complete
        assert natural > 0
        assert wide > 300
        assert high > 60
    assert bool(facts["scrolls"]) == (width == 390)  # on a desktop no table does, the ablation neither


def test_the_papers_five_columns_with_ours_fit_a_desktop(tmp_path: Path) -> None:
    """Table 1 and the ablation as the paper has them: twenty and ten columns of numbers."""
    runs = []
    for seed, column in enumerate(TABLES["table1"].columns):
        data = write_features(tmp_path / f"data-{seed}.npz", seed=seed)
        runs += of_table1(data, ["SimpleCIL"], seeds=2, column=column)
        runs += [
            Specification(data, "NCM", title="1", scenario=TEN, seed=number, paper=Cell("ablation", "1", column),
                          substitute=SUBSTITUTE)
            for number in range(2)
        ]  # fmt: skip
    make(tmp_path / "runs", runs)
    facts = measured([tmp_path / "runs"], 1280, tmp_path)
    assert facts["scrolls"] == []


def test_an_error_in_the_console_would_be_seen(tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!DOCTYPE html><title>x</title><script>console.error('seen')</script>")
    _, said = browse(page, tmp_path / "profile")
    assert len(said) == 1
