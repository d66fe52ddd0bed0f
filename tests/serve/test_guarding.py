"""Who may ask, from where, how much and how often."""

import base64
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anacp.serve import Limits, hashed
from tests.serve.serving import Asker, form, photo_of, serving, text_of

CHANGE = ("POST", "/v1/learn", {"texts": ["red house"], "label": "red"})


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},  # another service on this machine
        {"Origin": "https://127.0.0.1:{port}"},
        {"Host": "evil.example"},  # a name of theirs that points here
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Host": ""},
    ],
)
def test_a_foreign_page_cannot_teach_or_ask(texts: Asker, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=texts.port) for name, value in headers.items()}
    assert texts(*CHANGE, headers=sent, status=403).json["error"]["code"] in ("origin", "host")
    texts("GET", "/v1/model", headers=sent, status=403)
    body, kind = form([b"x"], {"label": "red"})  # what a foreign form sends without asking first
    texts("POST", "/v1/learn", body, kind | sent, status=403)
    assert texts.get("/v1/model")["version"] == 0


def test_its_own_page_may(texts: Asker) -> None:
    for host in ("127.0.0.1", "localhost"):
        headers = {"Host": f"{host}:{texts.port}", "Origin": f"http://{host}:{texts.port}"}
        assert texts(*CHANGE, headers=headers).status == 200
    found = texts("GET", "/").headers
    assert "default-src 'self'" in found["content-security-policy"]
    assert "unsafe" not in found["content-security-policy"]
    assert (found["x-content-type-options"], found["x-frame-options"]) == ("nosniff", "DENY")
    assert "access-control-allow-origin" not in texts("OPTIONS", "/v1/learn", status=None).headers


def test_a_token_is_asked_for(tmp_path: Path, bert: Path) -> None:
    with serving(tmp_path / "m.anacp", bert, token=hashed("correct horse battery")) as ask:
        for headers in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": "Bearer"},
            {"Authorization": "Basic !"},
        ):
            refused = ask(*CHANGE, headers=headers, status=401)
            assert (refused.json["error"]["code"], refused.headers["www-authenticate"]) == ("token", "Bearer")
            ask("GET", "/openapi.json", headers=headers, status=401)
        ask(*CHANGE, headers={"Authorization": "Bearer correct horse battery"})
        basic = base64.b64encode(b"label-studio:correct horse battery").decode()
        ask("GET", "/v1/model", headers={"Authorization": f"Basic {basic}"})
        for path in ("/", "/v1/health/live", "/health"):
            ask("GET", path)


def error(asked: Callable[[], Any]) -> str:
    return str(asked().json["error"]["code"])


def test_too_much_is_refused_before_it_is_looked_at(tmp_path: Path, vit: Path) -> None:
    limits = Limits(body=20_000, items=3)
    with serving(tmp_path / "m.anacp", vit, limits) as ask:
        large = form([b"x" * 30_000], {"label": "red"})
        assert error(lambda: ask("POST", "/v1/learn", *large, status=413)) == "too_large"
        many = form([photo_of("red", n) for n in range(4)], {"label": "red"})
        assert error(lambda: ask("POST", "/v1/learn", *many, status=413)) == "too_many"
        # Without a stated length it is counted as it comes.
        with socket.create_connection(("127.0.0.1", ask.port)) as line:
            head = f"POST /v1/relabel HTTP/1.1\r\nHost: 127.0.0.1:{ask.port}\r\nContent-Type: application/json\r\n"
            line.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            line.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
            line.sendall(b"2b67\r\n" + b"x" * 11_111 + b"\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 413")
        assert ask.get("/v1/model")["version"] == 0


def test_a_picture_with_too_many_pixels_is_refused(photos: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_MAX_PIXELS", "500")
    refused = photos.photos("/v1/learn", [photo_of("red", 1)], {"label": "red"}, status=422)["error"]
    assert "24 x 24" in refused["message"]


def test_long_texts_and_halves_of_characters_are_refused(texts: Asker) -> None:
    assert texts.post("/v1/predict", {"texts": ["x" * 20_001]}, status=413)["error"]["code"] == "too_long"
    body = b'{"texts": ["\\ud800"], "label": "red"}'
    headers = {"Content-Type": "application/json"}
    for path in ("/v1/learn", "/v1/predict", "/v1/pile"):
        assert texts("POST", path, body, headers, status=422).json["error"]["code"] == "input"
    assert texts("POST", "/v1/learn", b"[" * 100_000, headers, status=400).json["error"]["code"] == "json"
    assert texts("POST", "/v1/learn", b"texts", {"Content-Type": "text/plain"}, status=415).json["error"]["code"]


def test_who_asks_too_often_is_told_to_wait(tmp_path: Path, bert: Path) -> None:
    with serving(tmp_path / "m.anacp", bert, Limits(a_second=0.01, burst=5)) as ask:
        found = [ask("GET", "/v1/health/live", status=None) for _ in range(8)]
        assert [one.status for one in found[:5]] == [200] * 5
        assert found[-1].status == 429
        assert (found[-1].json["error"]["code"], found[-1].headers["retry-after"]) == ("rate", "1")


def test_what_takes_too_long_is_given_up(tmp_path: Path, bert: Path) -> None:
    with serving(tmp_path / "m.anacp", bert, Limits(seconds=0.0001)) as ask:
        assert ask.post("/v1/predict", {"texts": [text_of("red", 1)]}, status=503)["error"]["code"] == "time"
        ask("GET", "/v1/health/live", status=None)
