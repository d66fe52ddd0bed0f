"""From the drop of a photo of a new class to a changed answer, in the browser, with 200 classes in the model.

.venv/bin/python -m benchmarks.serve_page [--classes 200] [--drops 9] [--learner AnaCP]

The photos are drawn, five a class; features are EfficientNet-Lite0's. A photo is asked about, then dropped as a class
of its own: the time runs from the drop until the page names that class first, and until it has probabilities and the
unknown of the same version. Beside it, in the same run, the model is solved from nothing, with probabilities and
thresholds, as every change would cost without what was solved before. `--learner NCM`, which is solved in no time,
shows what page and service take themselves.
"""

import argparse
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from benchmarks.measuring import median, printed, row, spread
from PIL import Image, ImageDraw
from playwright.sync_api import expect
from tests.serve.driving import Server, chromium, drop, visited

from anacp import methods
from anacp.encoders import Encoder

BAR = 1.5  # seconds
A_CLASS = 5  # photos
WATCH = """(label) => {
  window.took = new Promise((resolve) => {
    let start = null;
    let named = null;
    addEventListener("drop", () => { start = performance.now(); }, { capture: true, once: true });
    const answer = document.querySelector("#answer");
    const seen = new MutationObserver(() => {
      if (start === null || answer.querySelector(".chances .name")?.textContent !== label) return;
      named ??= performance.now() - start;
      if (answer.matches(".asking, .early")) return;
      seen.disconnect();
      resolve([named, performance.now() - start]);
    });
    seen.observe(answer, { childList: true, subtree: true, attributes: true });
  });
}"""


def drawn(kind: int, number: int) -> Image.Image:
    """A photo of a kind of thing: shapes and colours of its own, a little different each time."""
    own, this = np.random.default_rng([kind]), np.random.default_rng([kind, number])
    image = Image.new("RGB", (224, 224), tuple(own.integers(0, 256, 3).tolist()))
    pen = ImageDraw.Draw(image)
    for _ in range(6):
        x, y, size = (own.integers(20, 200, 3) + this.integers(-12, 13, 3)).tolist()
        colour, sides = tuple(own.integers(0, 256, 3).tolist()), int(own.integers(3, 9))
        pen.regular_polygon((x, y, max(8, size // 4)), sides, fill=colour, rotation=int(this.integers(360)))
    noise = this.integers(-10, 11, (224, 224, 3))
    return Image.fromarray((np.asarray(image).astype(int) + noise).clip(0, 255).astype(np.uint8))


def made(path: Path, n_classes: int, learner: str) -> list[float]:
    """Write a model, and return what solving it from nothing took, three times."""
    encoder = Encoder("efficientnet-lite0")
    labels = np.array([f"thing {kind:03d}" for kind in range(n_classes) for _ in range(A_CLASS)])
    found = encoder.encode([drawn(kind, number) for kind in range(n_classes) for number in range(A_CLASS)])
    times = []
    for _ in range(3):
        taught = methods.find_method(learner).new().partial_fit(found.x, labels)
        start = perf_counter()
        taught.solve(probabilities=True, unknown=True)
        times.append(perf_counter() - start)
    methods.Classifier.of_learned(encoder, taught, labels, found.digests).save(path)
    return times


def measured(model: Path, n_drops: int) -> list[tuple[float, float]]:
    """Return the seconds of each drop until its class is named, and until that is settled."""
    times = []
    with Server(model) as server, chromium() as browser, visited(browser, server.address) as page:
        for drops in range(n_drops):
            label, photo = f"new {drops}", model.with_name(f"{drops}.png")
            drawn(10_000 + drops, 0).save(photo)
            drop(page, page.locator("#ask"), [photo])
            expect(page.locator('#ask img[alt*="asked"]')).to_be_visible()
            expect(page.locator(".answer:not(.asking, .early) .chances")).to_be_visible()
            page.evaluate(WATCH, label)
            page.locator("#new-class").fill(label)
            drop(page, page.locator(".invention"), [photo])
            named, settled = page.evaluate("window.took")
            times.append((named / 1000, settled / 1000))
            page.wait_for_timeout(3000)  # a person looks; the service saves
    return times


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--classes", type=int, default=200)
    reader.add_argument("--drops", type=int, default=9)
    reader.add_argument("--learner", default="AnaCP")
    asked = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "things.anacp"
        full = made(model, asked.classes, asked.learner)
        times = measured(model, asked.drops)
    setting = f"{asked.learner}, {asked.classes} classes of {A_CLASS} photos, EfficientNet-Lite0"
    named, settled = map(list, zip(*times, strict=True))
    note = f"{spread(named)} s over {len(times)} drops; solving from nothing {spread(full)} s"
    printed(
        [
            row("drop of a new class to a changed answer", "s", median(named), at_most=BAR, setting=setting, note=note),
            row("to its probabilities", "s", median(settled), setting=setting, note=f"{spread(settled)} s"),
        ]
    )


if __name__ == "__main__":
    main()
