"""Odd inputs: each is refused in one line that says what is wrong and what to do; the model stays, nothing is left."""

import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image

from anacp.encoders import FeatureStore
from tests.methods.inputs import folder, picture

LEARN, FORGET, EVALUATE, PREDICT = EVERY = ("learn", "forget", "evaluate", "predict")
LABELLED = EVERY[:3]
READING = LEARN, EVALUATE, PREDICT  # `forget` asks first whether it knows a file
Made = Path | list[object]  # what is given to a command


def _photos(path: Path) -> Path:
    return folder(path / "photos", ["blue", "red"], range(2))


def _write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _bad_photos(path: Path) -> Path:
    for name in ("one.jpg", "two.png"):
        _write(path / "photos" / "red" / name, f"<html>{name}</html>")
    return _photos(path)


def _truncated_photo(path: Path) -> Path:
    Image.fromarray(np.zeros((200, 200, 3), np.uint8)).save(path / "whole.png")
    return _write(path / "photos" / "red" / "half.png", (path / "whole.png").read_bytes()[:100]).parents[1]


def _truncated_archive(path: Path) -> Path:
    with zipfile.ZipFile(path / "whole.zip", "w") as archive:
        archive.writestr("red/1.png", bytes(4000))
    return _write(path / "half.zip", (path / "whole.zip").read_bytes()[:2000])


def _pipe(path: Path) -> Path:
    (path / "photos" / "red").mkdir(parents=True)
    os.mkfifo(path / "photos" / "red" / "pipe.jpg")
    return path / "photos"


def _back_link(path: Path) -> Path:
    (path / "photos" / "red").mkdir(parents=True)
    (path / "photos" / "red" / "back").symlink_to(path / "photos")
    return path / "photos"


def _two_classes(path: Path) -> Path:
    photos = folder(path / "photos", ["green", "yellow"], range(2))
    shutil.copy(photos / "green" / "000.png", photos / "yellow" / "same.png")
    return photos


def _known_otherwise(path: Path) -> Path:
    picture("red", 0).save(_write(path / "photos" / "blue" / "as_red.png", ""))
    return path / "photos"


def _folder_named(name: str) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        (path / name).mkdir()
        return path / name

    return make


def _file(name: str, content: bytes | str) -> Callable[[Path], Path]:
    return lambda path: _write(path / name, content)


def _given(*arguments: object) -> Callable[[Path], list[object]]:
    return lambda path: list(arguments)


def _with(make: Callable[[Path], Path], *options: object) -> Callable[[Path], list[object]]:
    return lambda path: [make(path), *options]


def _single_photo(path: Path) -> Path:
    return _photos(path) / "red" / "000.png"


def _parquet(path: Path) -> Path:
    pyarrow.parquet.write_table(pyarrow.table({"number": [1.0, 2.0], "kind": ["a", "b"]}), path / "t.parquet")
    return path / "t.parquet"


# What is made, which commands meet it, and what they say.
PHOTOS: dict[str, tuple[Callable[[Path], Made], tuple[str, ...], str]] = {
    "nowhere": (_given("nowhere"), LABELLED, "at nowhere, got none. Check the path"),
    "nowhere.jpg": (_given("nowhere.jpg"), EVERY, "nowhere.jpg"),
    "nowhere.csv": (_given("nowhere.csv"), EVERY, "Expected a table at nowhere.csv"),
    "empty folder": (_folder_named("empty"), EVERY, "Expected (class folders with images|images in the folder)"),
    "folder of notes": (
        lambda path: _write(path / "notes" / "a" / "1.txt", "x").parents[1],
        EVERY,
        "Expected (class folders with images|images in the folder)",
    ),
    "one photo without a class": (_single_photo, LABELLED, "Say it, such as --label red"),
    "blank label": (_with(_single_photo, "--label", " "), (LEARN, FORGET), "got a blank one"),
    "web pages named as photos": (
        _bad_photos,
        READING,
        r"2 files that cannot be read: .*one\.jpg, .*two\.png\. .*skip",
    ),
    "half a photo": (_truncated_photo, READING, r"half\.png .*--on-error skip"),
    "half an archive": (_truncated_archive, EVERY, "Expected a whole zip file, got one that is truncated"),
    "named pipe": (_pipe, EVERY, r"got a named pipe: .*pipe\.jpg"),
    "link back": (_back_link, EVERY, "Expected (class folders with images|images in the folder)"),
    "one photo in two classes": (_two_classes, (LEARN,), r"same\.png as 'yellow' and as 'green'.*--on-error skip"),
    "known as another class": (_known_otherwise, (LEARN,), r"as_red\.png as 'blue' and as 'red'"),
    "never learned": (_two_classes, (FORGET,), "got 5 that were not, .*--on-unknown skip"),
    "only unknown classes": (_two_classes, (EVALUATE,), r"classes that .* knows"),
    "strict": (
        _with(lambda path: _write(_photos(path) / "red" / "notes.txt", "x").parents[1], "--strict"),
        (LEARN,),
        r"notes\.txt \(not a picture\). Move them away",
    ),
    "program": (_file("tool.bin", b"\x7fELF" + bytes(100)), EVERY, r"tool\.bin"),
    "folder named as a table": (_folder_named("t.csv"), EVERY, r"Expected a table at .*t\.csv, got no file"),
    "paths that lead nowhere": (
        _file("t.csv", "path,label\nnone.png,red\n"),
        LABELLED,
        r"line 2 \(no file none\.png\)",
    ),
    "table of texts": (
        _file("t.csv", "text,label\nhello,red\n"),
        (LEARN, PREDICT),
        "Expected (images|paths of images)",
    ),
    "texts": (_given("hello there", "--label", "red"), (LEARN, FORGET), "at hello there, got none"),
    "too many pixels": (
        lambda path: _write(path / "photos" / "red" / "bomb.ppm", b"P6 99999 99999 255\n" + bytes(99)).parents[1],
        READING,
        "Expected at most 89,478,485 pixels",
    ),
}
TEXTS: dict[str, tuple[Callable[[Path], Made], tuple[str, ...], str]] = {
    "nowhere.csv": (_given("nowhere.csv"), EVERY, "Expected a table at nowhere.csv"),
    "text without a class": (_given("red house"), LABELLED, "For a text, say its class|Expected a folder"),
    "blank text": (_given(" ", "--label", "red"), (LEARN, FORGET), "got a blank one"),
    "empty file": (_file("t.csv", ""), LABELLED, "Expected rows of text and label .*, got none"),
    "header only": (_file("t.csv", "text,label\n"), LABELLED, "Expected rows of text and label .*, got none"),
    "no label": (
        _file("t.csv", "text,label\nred house,a\ngreen,\nblue,b\ntree\n"),
        LABELLED,
        r"2 rows that cannot be used: line 3 \(no label\), line 5 \(no label\).*--on-error skip",
    ),
    "no text": (_file("t.csv", "text,label\n,a\n  ,b\n"), LABELLED, r"line 2 \(blank text\), line 3 \(blank text\)"),
    "commas without quotes": (
        _file("t.csv", "text,label\nred, green,a\n"),
        EVERY,
        "3 cells for 2 columns: put a text with commas into quotes",
    ),
    "open quotes": (_file("t.csv", 'text,label\n"red,a\n'), EVERY, "Expected a CSV file, got something else in line"),
    "unusual columns": (
        _file("t.csv", "utterance,kind\nred,a\n"),
        LABELLED,
        "got utterance, kind. If 'kind' is meant, say --label-column 'kind'",
    ),
    "no column of texts": (_file("t.csv", "foo,bar\nred,a\n"), EVERY, "--text-column NAME"),
    "a column that is not there": (
        _with(_file("t.csv", "text,label\nred,a\n"), "--text-column", "txt"),
        EVERY,
        "Did you mean 'text'?",
    ),
    "two labels": (
        _with(_file("t.csv", "text,label\nred,a\n"), "--label", "b"),
        (LEARN, FORGET),
        "got 'b' and the column 'label'",
    ),
    "bytes named as a table": (_file("t.csv", b"\x00\x01\x02\x00\x07"), EVERY, "got bytes that are none"),
    "half of UTF-16": (_file("t.csv", "text,label\nred,a\n".encode("utf-16")[:-1]), EVERY, "Save it as UTF-8"),
    "half of JSON": (_file("t.json", '[{"text": "red"'), EVERY, "Expected a JSON file, got one that is truncated"),
    "a number as JSON": (_file("t.json", "3"), EVERY, "Expected a list of objects"),
    "half of JSON Lines": (_file("t.jsonl", '{"text": "red", "label": "a"}\n{"te'), EVERY, "JSON object in line 2"),
    "no Excel": (_file("t.xlsx", "text,label\nred,a\n"), EVERY, r"Expected an Excel file \(.xlsx\)"),
    "no parquet": (_file("t.parquet", "text,label\nred,a\n"), EVERY, "Expected a whole parquet file"),
    "parquet of numbers": (_parquet, EVERY, "got number, kind"),
    "photo": (_single_photo, (PREDICT,), "Expected texts, which the model was learned with, got a file"),
    "nowhere.txt": (_given("nowhere.txt"), EVERY, r"at nowhere\.txt, got none. Check the path"),
    "photos": (_photos, (LEARN,), "Expected texts, which .* was learned with"),
}
CASES = [
    pytest.param(kind, about, command, id=f"{kind}: {about}, {command}")
    for kind, cases in (("photos", PHOTOS), ("texts", TEXTS))
    for about, (_, commands, _) in cases.items()
    for command in commands
]


def test_there_are_many() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize(("kind", "about", "command"), CASES)
def test_odd_inputs_are_refused(
    kind: str,
    about: str,
    command: str,
    models: dict[str, Path],
    anacp_home: Path,
    tmp_path: Path,
    error_of: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make, _, message = (PHOTOS if kind == "photos" else TEXTS)[about]
    monkeypatch.chdir(tmp_path)
    made = make(tmp_path)
    model = Path(shutil.copy(models[kind], tmp_path / "model.anacp"))
    shutil.rmtree(anacp_home / "unfinished", ignore_errors=True)
    before, there = model.read_bytes(), sorted(tmp_path.rglob("*"))
    given = made if isinstance(made, list) else [made]
    arguments = [*given, "--model", model] if command == LEARN else [model, *given]
    error = error_of(command, *arguments)
    assert re.search(message, error), error
    assert error.startswith("anacp: Expected ")
    assert model.read_bytes() == before
    assert sorted(tmp_path.rglob("*")) == there
    kept = [entry for root in (anacp_home / "unfinished").glob("*") for entry in FeatureStore(root).entries()]
    assert all(entry.n_rows for entry in kept)  # what was computed may wait for the next run, nothing else
