"""A flower collector's folders, drawn: for the walk-through in docs/everyday.md, where photos would be."""

from math import cos, pi, sin
from pathlib import Path
from random import Random

import pillow_heif
from PIL import Image, ImageDraw, ImageFilter

SIDE = 192
PETALS = {"daisy": (12, "white", 0.38), "rose": (7, "crimson", 0.62), "tulip": (3, "orchid", 0.7)}
PETALS["sunflower"] = (18, "gold", 0.4)
HEARTS = {"daisy": "gold", "rose": "darkred", "tulip": "mediumvioletred", "sunflower": "saddlebrown"}


def flower(kind: str, number: int) -> Image.Image:
    """Return a picture of a flower; each number is another one."""
    draw = Random(f"{kind} {number}")
    meadow = (draw.randint(40, 110), draw.randint(110, 170), draw.randint(40, 90))
    image = Image.new("RGB", (SIDE, SIDE), meadow)
    pen = ImageDraw.Draw(image)
    for _ in range(60):  # grass
        x, y = draw.randint(0, SIDE), draw.randint(0, SIDE)
        shade = tuple(min(255, max(0, tone + draw.randint(-40, 40))) for tone in meadow)
        pen.line([x, y, x + draw.randint(-8, 8), y - draw.randint(10, 40)], fill=shade, width=3)
    x, y = SIDE / 2 + draw.uniform(-18, 18), SIDE / 2 + draw.uniform(-18, 18)
    pen.line([x, y, x + draw.uniform(-20, 20), SIDE], fill="darkgreen", width=7)
    count, colour, width = PETALS[kind]
    radius, turn = draw.uniform(48, 66), draw.uniform(0, 2 * pi)
    for ring in (1.0, 0.72, 0.45) if kind == "rose" else (1.0,):
        for petal in range(count):
            angle = (
                turn + ring + (2 * pi * petal / count if kind != "tulip" else (petal - 1) * 0.55 - pi / 2 - turn - ring)
            )
            px, py = x + cos(angle) * radius * ring * 0.6, y + sin(angle) * radius * ring * 0.6
            half = radius * ring * width * 0.6
            pen.ellipse([px - half, py - half, px + half, py + half], fill=colour, outline=HEARTS[kind])
    heart = radius * {"daisy": 0.3, "rose": 0.16, "tulip": 0.12, "sunflower": 0.5}[kind]
    pen.ellipse([x - heart, y - heart, x + heart, y + heart], fill=HEARTS[kind])
    return image.filter(ImageFilter.GaussianBlur(0.8))


def save(kind: str, numbers: range, folder: str) -> None:
    """Write some flowers of a kind."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number in numbers:
        flower(kind, number).save(Path(folder) / f"{kind}{number}.jpg", quality=95)


def sheet(kinds: list[str], path: str) -> None:
    """Write a picture of four flowers of each kind, with their folders' names."""
    made = Image.new("RGB", (110 + 4 * 100, 100 * len(kinds)), "white")
    pen = ImageDraw.Draw(made)
    for row, kind in enumerate(kinds):
        pen.text((8, 100 * row + 40), f"{kind}/", fill="black", font_size=18)
        for number in range(4):
            made.paste(flower(kind, number).resize((96, 96)), (110 + 100 * number, 100 * row + 2))
    made.save(path)


for kind in ("daisy", "rose", "tulip"):
    save(kind, range(8), f"flowers/{kind}")
save("sunflower", range(6), "found/sunflower")
for kind in PETALS:
    save(kind, range(20, 24), f"test/{kind}")
Path("new").mkdir(exist_ok=True)
for name, kind in {"a": "tulip", "b": "daisy", "c": "sunflower"}.items():
    flower(kind, 40).save(f"new/{name}.jpg", quality=95)
pillow_heif.from_pillow(flower("rose", 50)).save("IMG_2041.HEIC", quality=90)
Path("walk.csv").write_text("photo;where\nnew/a.jpg;by the river\nnew/b.jpg;meadow\nnew/c.jpg;garden\n")
Path("flowers/notes.txt").write_text("Rose: behind the old mill.\n")
sheet(["daisy", "rose", "tulip", "sunflower"], "flowers.png")
print("flowers/, found/, new/, test/, IMG_2041.HEIC, walk.csv")
