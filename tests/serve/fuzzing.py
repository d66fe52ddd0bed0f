"""Uploads of any kind: `python -m tests.serve.fuzzing --uploads 10000`.

Real pictures with bytes changed, cut, repeated; forms with broken borders, odd names and odd types; JSON of any shape.
Every answer must be a 2xx or a 4xx, and the service must answer a real question after all of them.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import tempfile
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from anacp import NCM, Classifier
from anacp.serve import Service
from tests.adaptation.models import tiny
from tests.methods.inputs import picture
from tests.serve.serving import answering, form, photo_of

KINDS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM", "ICO", "AVIF")
PATHS = ("/v1/learn", "/v1/learn?on_error=skip", "/v1/predict", "/v1/pile", "/v1/forget", "/v1/import/preview")
NAMES = (
    "a.png",
    "../../etc/passwd",
    "C:\\x.jpg",
    'quo"te.png',
    "",
    "\u202egnp.exe",
    "x" * 5000,
    "a\x00b",
    "%00",
    "é.png",
)
LABELS = ("red", "", "\x00", "x" * 300, "<script>alert(1)</script>", "a\r\nb", "🙂", "' OR 1=1 --")


def encoded(kind: str, number: int) -> bytes:
    """A real picture in some format."""
    file = io.BytesIO()
    picture(("red", "blue", "green")[number % 3], number).save(file, kind)
    return file.getvalue()


def changed(content: bytes, chosen: random.Random) -> bytes:
    """The same with something wrong."""
    data = bytearray(content)
    for _ in range(chosen.choice([1, 1, 2, 8])):
        place = chosen.randrange(len(data) or 1)
        way = chosen.randrange(5)
        if way == 0:
            data[place : place + 1] = bytes([chosen.randrange(256)])
        elif way == 1:
            del data[place:]
        elif way == 2:
            data[place:place] = data[place : place + chosen.randrange(64)]
        elif way == 3:
            data[place : place + 4] = chosen.choice([b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff"])
        else:
            data[place : place + 8] = chosen.randbytes(8)
    return bytes(data)


def upload(chosen: random.Random, real: list[bytes]) -> tuple[bytes, dict[str, str]]:
    """Something to send, and its headers."""
    if chosen.random() < 0.15:
        return document(chosen), {"Content-Type": "application/json"}
    photos = [changed(chosen.choice(real), chosen) for _ in range(chosen.choice([1, 1, 1, 2, 5]))]
    if chosen.random() < 0.1:
        photos.append(chosen.choice(real))
    body, headers = form(photos, {"label": chosen.choice(LABELS)}, chosen.choice(NAMES))
    if chosen.random() < 0.2:
        body = changed(body, chosen)
    if chosen.random() < 0.05:
        kinds = ["multipart/form-data", "multipart/form-data; boundary=", "text/html", "", "application/json"]
        headers = {"Content-Type": chosen.choice(kinds)}
    return body, headers


def document(chosen: random.Random) -> bytes:
    """JSON, or nearly."""
    values: list[Any] = [None, 0, -1, 1e308, "", "x", [], {}, ["x"], [[]], "\ud800", "/etc/passwd", [None], True]
    names = ["texts", "label", "ids", "names", "files", "on_error"]
    found = {chosen.choice(names): chosen.choice(values) for _ in range(chosen.randrange(4))}
    content = json.dumps(found).encode()
    return changed(content, chosen) if chosen.random() < 0.3 else content


def session(uploads: int, seed: int, folder: Path) -> Counter[int]:
    """Send everything to a service, and return how many answers of each status there were."""
    chosen, statuses = random.Random(seed), Counter[int]()
    real = [encoded(kind, number) for kind in KINDS for number in range(3)]
    with Service(folder / "m.anacp", Classifier(f"hf:{folder / 'vit'}", NCM())) as service, answering(service) as ask:
        for label in ("red", "blue"):
            ask.photos("/v1/learn", [photo_of(label, n) for n in range(3)], {"label": label})
        connection, begun = HTTPConnection("127.0.0.1", ask.port, timeout=60), time.monotonic()
        for number in range(1, uploads + 1):
            body, headers = upload(chosen, real)
            path = chosen.choice(PATHS)
            try:
                connection.request("POST", path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
            except (HTTPException, OSError):  # closed after an answer, as may be
                connection.close()
                continue
            statuses[answer.status] += 1
            assert answer.status < 500, (path, headers, body[:2000], content)
            if answer.status >= 400:
                assert json.loads(content)["error"]["message"], content
            if number % 1000 == 0:
                print(f"{number} uploads, {dict(statuses)}, {time.monotonic() - begun:.0f} s", flush=True)
        connection.close()
        assert ask.get("/v1/health/ready")["ready"] is True
        assert ask.photos("/v1/predict", [photo_of("red", 9)])["answers"][0]["top"]
        names = [one["label"] for one in ask.get("/v1/model")["classes"]]
        assert all(name.isprintable() and name.strip() for name in names)
    return statuses


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        os.environ["ANACP_HOME"] = made
        tiny("vit", Path(made))
        print(f"{given.uploads} uploads: {dict(session(given.uploads, given.seed, Path(made)))}, and it still answers")
