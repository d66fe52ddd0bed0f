"""A service in this process, with a small network, and something that asks it over a real socket."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvicorn

from anacp import AnaCP, Classifier
from anacp.serve import Limits, Service, bound, create_app
from tests.methods.inputs import picture

WORDS = ("the", "a", "very", "house", "tree", "car")


def text_of(label: str, number: int) -> str:
    """A sentence that the small network tells by one word; another one for each number."""
    return " ".join([*[label] * 6, *(WORDS[number // len(WORDS) ** place % len(WORDS)] for place in range(4))])


def photo_of(label: str, number: int) -> bytes:
    """A patch of one colour, as a PNG file."""
    file = io.BytesIO()
    picture(label, number).save(file, "PNG")
    return file.getvalue()


def empty(network: Path) -> Classifier:
    """A classifier that has learned nothing, quick to solve."""
    return Classifier(f"hf:{network}", AnaCP(n_projected=48))


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Asker:
    """One connection at a time to a service; says everything as it is told to."""

    def __init__(self, port: int) -> None:
        self.port = port

    def __call__(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, status: int | None = 200
    ) -> Reply:
        sent = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body, sent = json.dumps(body).encode(), {"Content-Type": "application/json"} | sent
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            found = Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()
        assert status is None or found.status == status, (path, found.status, found.content[:400])
        return found

    def get(self, path: str, **options: Any) -> Any:
        return self("GET", path, **options).json

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self("POST", path, {} if body is None else body, **options).json

    def learn(self, label: str, numbers: Sequence[int], **options: Any) -> Any:
        return self.post("/v1/learn", {"texts": [text_of(label, one) for one in numbers], "label": label}, **options)

    def photos(self, path: str, photos: Sequence[bytes], fields: dict[str, str] | None = None, **options: Any) -> Any:
        return self("POST", path, *form(photos, fields or {}), **options).json


def form(photos: Sequence[bytes], fields: dict[str, str], name: str = "photo.png") -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a form with files."""
    border = "border-of-the-parts"
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()
    ]
    head = f'--{border}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
    body = b"".join([*parts, *(head + one + b"\r\n" for one in photos), f"--{border}--\r\n".encode()])
    return body, {"Content-Type": f"multipart/form-data; boundary={border}"}


@contextmanager
def answering(service: Service, limits: Limits | None = None, **options: Any) -> Iterator[Asker]:
    """Answer requests to a service from another thread."""
    listening = bound("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(create_app(service, limits, **options), log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Asker(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def serving(model: Path, network: Path, limits: Limits | None = None, **options: Any) -> Iterator[Asker]:
    """Serve a model, new or not."""
    with Service(model, empty(network)) as service, answering(service, limits, **options) as ask:
        yield ask
