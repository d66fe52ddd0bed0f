"""The pictures of docs/everyday.md, by the page's own commands on drawn photos: python tools/everyday_pictures.py."""

import contextlib
import json
import os
import runpy
import shutil
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw
from typer.testing import CliRunner

from anacp.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
INK, PAPER, BAR, LIGHT = "#222222", "white", "#2a7f62", "#dfe8e4"
SIDE, WIDE = 150, 460


def anacp(*arguments: str) -> str:
    """Run a command and return what it prints."""
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def answers(path: Path, rows: list[dict]) -> None:
    """Draw photos, and beside each the likeliest names with a bar for how sure the model is."""
    made = Image.new("RGB", (WIDE, (SIDE + 10) * len(rows)), PAPER)
    pen = ImageDraw.Draw(made)
    for number, row in enumerate(rows):
        top = number * (SIDE + 10)
        made.paste(Image.open(row["input"]).resize((SIDE, SIDE)), (0, top))
        for place, best in enumerate(row["top"]):
            y, left = top + 14 + 42 * place, SIDE + 110
            pen.text((SIDE + 16, y), best["label"], fill=INK, font_size=17)
            pen.rectangle([left, y + 2, left + 140, y + 20], fill=LIGHT)
            pen.rectangle([left, y + 2, left + round(140 * best["probability"]), y + 20], fill=BAR)
            pen.text((left + 150, y), f"{best['probability']:.2f}", fill=INK, font_size=17)
    made.save(path)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        runpy.run_path(str(ROOT / "examples" / "04_flowers.py"), run_name="__main__")
        os.environ.setdefault("ANACP_HOME", str(Path(folder) / "home"))
        for photos in ("flowers", "found/sunflower"):
            anacp("learn", photos, "--model", "flowers.anacp")
        rows = json.loads(anacp("predict", "flowers.anacp", "new/a.jpg", "new/b.jpg", "new/c.jpg", "--json"))
        anacp("evaluate", "flowers.anacp", "test", "--output", "report")
        answers(IMAGES / "flowers_answers.png", rows)
        shutil.copy("flowers.png", IMAGES / "flowers.png")
        shutil.copy("report/confusion.png", IMAGES / "flowers_confusion.png")


if __name__ == "__main__":
    main()
