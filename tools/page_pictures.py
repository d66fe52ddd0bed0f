"""Takes the pictures of docs/page.md, in a real browser, of flowers that examples/04_flowers.py draws.

python -m tools.page_pictures [FOLDER]
"""

import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect
from tests.serve.driving import Server, card, chromium, drop, visited

ROOT = Path(__file__).resolve().parent.parent
QUIET = "() => document.querySelectorAll('#messages > *').forEach((one) => one.remove())"


def shot(page: Page, path: Path) -> None:
    page.evaluate(QUIET)  # messages go by themselves
    page.mouse.move(0, 0)
    # Few colours are enough, and a third of the bytes.
    Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(128).save(path, optimize=True)
    print(path, f"{path.stat().st_size / 1000:.0f} kB", flush=True)


def teach(page: Page, flowers: Path) -> None:
    """Three kinds, with one photo where it does not belong, and a question about a fourth."""
    for kind in ("daisy", "rose", "tulip"):
        drop(page, page.locator(".invention"), [flowers / "flowers" / kind])
        expect(card(page, kind).locator("[role=option]")).to_have_count(8)
    drop(page, card(page, "rose"), [flowers / "test" / "tulip" / "tulip20.jpg"])
    drop(page, page.locator("#ask"), [flowers / "found" / "sunflower" / "sunflower0.jpg"])
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.locator(".answer.asking")).to_have_count(0)


def main() -> None:
    images = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as folder:
        flowers = Path(folder)
        subprocess.run([sys.executable, ROOT / "examples" / "04_flowers.py"], cwd=flowers, check=True)
        with Server(flowers / "flowers.anacp") as server, chromium() as browser:
            size = {"width": 1240, "height": 800}
            with visited(browser, server.address, viewport=size) as page:
                teach(page, flowers)
                shot(page, images / "page_unknown.png")
                drop(page, page.locator(".invention"), [flowers / "found" / "sunflower"])
                expect(page.locator(".verdict")).to_contain_text("sunflower")
                expect(card(page, "sunflower").locator("[role=option]")).to_have_count(6)
                shot(page, images / "page_learned.png")
                page.locator('nav a[href="#next"]').click()
                others = [
                    path for kind in ("daisy", "rose", "sunflower") for path in (flowers / "test" / kind).iterdir()
                ]
                drop(page, page.locator("#pile"), others)
                expect(page.locator("#pile")).to_contain_text("12 items")
                expect(page.get_by_text("Working it out")).to_have_count(0)
                shot(page, images / "page_next.png")
            phone = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "is_mobile": True}
            with visited(browser, server.address, **phone, color_scheme="dark") as page:
                drop(page, page.locator("#ask"), [flowers / "new" / "a.jpg"])
                expect(page.locator(".verdict")).to_be_visible()
                shot(page, images / "page_phone.png")


if __name__ == "__main__":
    main()
