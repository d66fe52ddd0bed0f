"""The moving picture of the README: commands that are run for it, on drawn photos: python tools/terminal_picture.py."""

import contextlib
import os
import runpy
import shlex
import tempfile
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont
from typer.testing import CliRunner

from anacp.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
FONT = ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"), 15)
PAPER, INK, PROMPT = "#1d2228", "#dfe3e8", "#7fd1ae"
COLUMNS, ROWS, LINE, EDGE = 84, 21, 21, 14
COMMANDS = (
    "anacp learn flowers/ --model my.anacp",
    "anacp predict my.anacp new/a.jpg new/b.jpg",
    "anacp learn found/sunflower --model my.anacp",
    "anacp predict my.anacp new/c.jpg",
    "anacp forget my.anacp found/sunflower",
    "anacp undo my.anacp",
)
KEY, PAUSE, END = 70, 1400, 4000  # milliseconds


def frame(lines: list[str]) -> Image.Image:
    """Return the last lines of a terminal."""
    made = Image.new("RGB", (COLUMNS * 9 + 2 * EDGE, ROWS * LINE + 2 * EDGE), PAPER)
    pen = ImageDraw.Draw(made)
    for row, line in enumerate(lines[-ROWS:]):
        place = EDGE, EDGE + row * LINE
        pen.text(place, line.expandtabs(4)[:COLUMNS], fill=PROMPT if line.startswith("$") else INK, font=FONT)
    return made.quantize(16)


def main() -> None:
    frames: list[Image.Image] = []
    lasting: list[int] = []
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ.setdefault("ANACP_HOME", str(Path(folder) / "home"))
        runpy.run_path(str(ROOT / "examples" / "04_flowers.py"), run_name="__main__")
        Path("flowers/notes.txt").unlink()
        for command in COMMANDS:
            for end in range(0, len(command) + 1, 3):
                frames.append(frame([*lines, f"$ {command[:end]}"]))
                lasting.append(KEY)
            result = CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)
            assert result.exit_code == 0, result.output
            lines += [f"$ {command}", *result.output.splitlines(), ""]
            frames.append(frame(lines))
            lasting.append(PAUSE)
    lasting[-1] = END
    first, *others = frames
    place = ROOT / "docs" / "images" / "terminal.gif"
    first.save(place, save_all=True, append_images=others, duration=lasting, loop=0, optimize=True)


if __name__ == "__main__":
    main()
