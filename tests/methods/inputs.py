"""Small pictures and sentences that a pretrained network tells apart."""

import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"blue": (30, 60, 220), "green": (40, 180, 60), "red": (210, 40, 40), "yellow": (230, 210, 50)}

SENTENCES = {
    "greeting": ["hello there", "good morning to you", "hi, how are you?", "nice to meet you"],
    "money": ["what is my balance?", "transfer ten euros", "pay the bill for power", "how much did I spend?"],
    "weather": ["will it rain today?", "is it cold outside?", "how warm is tomorrow?", "do I need an umbrella?"],
}


def picture(label: str, number: int) -> Image.Image:
    """A patch of one colour with noise; another one for each number."""
    noise = np.random.default_rng([number, *label.encode()]).integers(-8, 9, (24, 24, 3))
    return Image.fromarray((np.array(COLOURS[label]) + noise).clip(0, 255).astype(np.uint8))


def pictures(labels: list[str], numbers: range) -> tuple[list[Image.Image], list[str]]:
    return [picture(label, n) for label in labels for n in numbers], [label for label in labels for _ in numbers]


def sentences(labels: list[str], numbers: range = range(4)) -> tuple[list[str], list[str]]:
    return [SENTENCES[label][n] for label in labels for n in numbers], [label for label in labels for _ in numbers]


def folder(path: Path, labels: list[str], numbers: range) -> Path:
    """A folder of class folders."""
    for label in labels:
        (path / label).mkdir(parents=True, exist_ok=True)
        for number in numbers:
            picture(label, number).save(path / label / f"{number:03d}.png")
    return path


def zipped(source: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(source.rglob("*.png")):
            archive.write(file, file.relative_to(source))
    return path


def table(path: Path, labels: list[str], numbers: range = range(4)) -> Path:
    """A CSV file of texts and labels."""
    rows = zip(*sentences(labels, numbers), strict=True)
    path.write_text("text,label\n" + "".join(f'"{text}",{label}\n' for text, label in rows))
    return path
