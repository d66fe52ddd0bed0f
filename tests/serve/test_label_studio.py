"""The protocol of Label Studio's machine learning backends, as its documentation has it."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from anacp.errors import ParameterError
from anacp.serve import LabelStudio
from anacp.serve.refusals import RefusedError
from tests.serve.serving import Asker, photo_of, serving, text_of

# https://labelstud.io/guide/task_format and /guide/webhook_reference: the shape of a task, of an annotation of it and
# of the events about that, for <Choices>; the words are ours.
CONFIG = """
<View>
  <Text name="text" value="$text"/>
  <Choices name="sentiment" toName="text" choice="single">
    <Choice value="red"/>
    <Choice value="green"/>
  </Choices>
</View>
"""


def task(text: str, number: int = 1) -> dict[str, Any]:
    return {
        "id": number,
        "created_at": "2021-03-09T21:52:49.513742Z",
        "updated_at": "2021-03-09T22:16:08.746926Z",
        "project": 83,
        "data": {"text": text},
        "annotations": [],
        "predictions": [],
    }


def event(action: str, text: str, label: str, number: int = 1001) -> dict[str, Any]:
    result = {
        "id": "Dx_aB91ISN",
        "from_name": "sentiment",
        "to_name": "text",
        "type": "choices",
        "origin": "manual",
        "value": {"choices": [label]},
    }
    return {
        "action": action,
        "annotation": {
            "id": number,
            "result": [result],
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": "2021-03-09T22:16:08.728353Z",
            "updated_at": "2021-03-09T22:16:08.728378Z",
            "lead_time": 4.288,
            "result_count": 1,
            "task": 1,
            "completed_by": 10,
        },
        "task": task(text),
        "project": {"id": 83, "title": "Texts", "label_config": CONFIG},
    }


def test_label_studio_teaches_and_asks(texts: Asker) -> None:
    assert texts.get("/health") == {"status": "UP", "model_class": "anacp"}
    setup = {"project": "83.1615326929", "schema": CONFIG, "hostname": "http://localhost:8080", "access_token": "x"}
    assert texts.post("/setup", setup) == {"model_version": "0"}
    asked = {
        "tasks": [task(text_of("red", 77)), task(text_of("green", 77), 2)],
        "label_config": CONFIG,
        "project": "83.1",
    }
    asked |= {"params": {"login": None, "password": None, "context": None}}
    assert [one["result"] for one in texts.post("/predict", asked)["results"]] == [[], []]  # it knows nothing yet

    versions = []
    for number in range(8):
        label = ("red", "green")[number % 2]
        told = texts.post("/webhook", event("ANNOTATION_CREATED", text_of(label, number), label, number), status=201)
        assert told["status"] == "ok"
        versions.append(told["result"]["model_version"])
    assert versions == [str(number) for number in range(1, 9)]  # another one after every change
    texts.post("/v1/predict?after=8", {"texts": ["red"]})

    results = texts.post("/predict", asked)["results"]
    assert [one["result"][0]["value"] for one in results] == [{"choices": ["red"]}, {"choices": ["green"]}]
    for one in results:
        assert one["model_version"] == "8"
        assert 0 < one["score"] <= 1
        assert {name: one["result"][0][name] for name in ("from_name", "to_name", "type")} == {
            "from_name": "sentiment", "to_name": "text", "type": "choices",
        }  # fmt: skip

    texts.post("/webhook", event("ANNOTATION_UPDATED", text_of("red", 0), "green", 0), status=201)
    assert {one["label"]: one["n"] for one in texts.get("/v1/model")["classes"]} == {"red": 3, "green": 5}
    gone = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 0}, {"id": 2}], "project": {"id": 83}}
    assert texts.post("/webhook", gone, status=201)["result"]["changed"] is True
    assert {one["label"]: one["n"] for one in texts.get("/v1/model")["classes"]} == {"red": 2, "green": 4}
    assert texts.post("/webhook", gone, status=201)["result"]["changed"] is False


def test_two_annotations_of_one_content_keep_it_until_both_are_gone(texts: Asker) -> None:
    for number in (1, 2):
        texts.post("/webhook", event("ANNOTATION_CREATED", text_of("red", 5), "red", number), status=201)
    for number, left in ((1, 1), (2, 0)):
        texts.post("/webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": number}]}, status=201)
        assert texts.get("/v1/model")["n_examples"] == left


def test_what_label_studio_sends_amiss_is_said(texts: Asker) -> None:
    assert texts.post("/webhook", {"action": "PROJECT_UPDATED"}, status=200)["status"] == "Unknown event"
    cancelled = event("ANNOTATION_CREATED", "red", "red")
    cancelled["annotation"]["was_cancelled"] = True
    assert texts.post("/webhook", cancelled, status=201)["result"]["changed"] is False
    for config in ("", "no xml", "<View/>", "<!DOCTYPE x [<!ENTITY a 'b'>]><View>&a;</View>", None):
        body = {"tasks": [], "label_config": config}
        assert texts.post("/predict", body, status=422)["error"]["code"] == "label_config"
    texts.post("/webhook", {"action": "ANNOTATION_CREATED"}, status=422)


def test_label_studio_photos_are_not_fetched(photos: Asker, tmp_path: Path) -> None:
    config = CONFIG.replace('<Text name="text" value="$text"/>', '<Image name="text" value="$text"/>')
    (tmp_path / "a.png").write_bytes(photo_of("red", 1))
    for address in ("http://127.0.0.1:1/a.png", str(tmp_path / "a.png"), "file:///etc/passwd", "/data/upload/1/a.png"):
        sent = event("ANNOTATION_CREATED", address, "red")
        sent["project"]["label_config"] = config
        assert photos.post("/webhook", sent, status=422)["error"]["code"] == "task"
    sent = event("ANNOTATION_CREATED", "data:image/png;base64," + base64.b64encode(photo_of("red", 1)).decode(), "red")
    sent["project"]["label_config"] = config
    assert photos.post("/webhook", sent, status=201)["result"]["changed"] is True


# https://labelstud.io/guide/task_format: the task of an image with a finished annotation and two predictions, as it is
# documented; https://labelstud.io/tags/choices has the interface.
TASK = Path(__file__).with_name("label_studio_task.json")
IMAGES = """
<View>
  <Image name="img" value="$image"/>
  <RectangleLabels name="tag" toName="img"><Label value="Moonwalker"/></RectangleLabels>
  <Choices name="choice" toName="img" choice="single"><Choice value="red"/><Choice value="blue"/></Choices>
</View>
"""
TOKEN = "a token of Label Studio"


class Keeps(BaseHTTPRequestHandler):
    """Photos as Label Studio has them: for those who show a token."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/data/upload/elsewhere.png":
            self.send_response(302)
            self.send_header("Location", "/data/upload/1/red.png")
            self.end_headers()
            return
        label = "red" if "red" in self.path else "blue"
        known = self.headers["Authorization"] == f"Token {TOKEN}" and "missing" not in self.path
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(photo_of(label, len(self.path)) if known else b"who are you?")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def studio() -> Iterator[ThreadingHTTPServer]:
    Keeps.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Keeps) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_task_of_its_documentation_goes_through(studio: ThreadingHTTPServer, tmp_path: Path, vit: Path) -> None:
    address = f"http://127.0.0.1:{studio.server_port}"
    documented = json.loads(TASK.read_text())
    where = LabelStudio(address, TOKEN)
    with serving(tmp_path / "my.anacp", vit, label_studio=where) as ask:
        assert ask.post("/setup", {"project": "83.1", "schema": IMAGES})["model_version"] == "0"
        asked = {"tasks": [documented], "label_config": IMAGES, "project": "83.1"}
        # Its photo lies on a host that nobody named here: no prediction, nothing fetched, nothing broken.
        assert ask.post("/predict", asked)["results"] == [{"model_version": "0", "score": 0.0, "result": []}]
        # Its annotation has a rectangle, and no choice: nothing to learn from.
        told = {"action": "ANNOTATION_CREATED", "task": documented, "annotation": documented["annotations"][0]}
        told["project"] = {"id": 83, "label_config": IMAGES}
        assert ask.post("/webhook", told, status=201)["result"]["changed"] is False
        # The same task with photos that Label Studio keeps, by each way in which it names them, and a choice.
        names = ["/data/upload/83/%s.png", "/data/local-files/?d=photos/%s.png", f"{address}/data/upload/1/%s.jpg"]
        for number, name in enumerate(names):
            for label in ("red", "blue"):
                told["task"] = documented | {"data": {"image": name % label}}
                choice = {"from_name": "choice", "to_name": "img", "type": "choices", "value": {"choices": [label]}}
                told["annotation"] = documented["annotations"][0] | {"id": f"{label}{number}"}
                told["annotation"]["result"] = [*documented["annotations"][0]["result"], choice]
                version = ask.post("/webhook", told, status=201)["result"]["model_version"]
        assert {one["label"]: one["n"] for one in ask.get("/v1/model")["classes"]} == {"red": 3, "blue": 3}
        ask.photos(f"/v1/predict?after={version}", [photo_of("red", 0)])
        asked["tasks"] = [documented | {"data": {"image": "/data/upload/9/another red.png"}}]
        (found,) = ask.post("/predict", asked)["results"]
        assert (found["model_version"], found["result"][0]["value"]) == (version, {"choices": ["red"]})
    assert all(path.startswith("/data/") for path in Keeps.asked)


def test_nothing_is_fetched_but_files_of_the_place_that_was_named(studio: ThreadingHTTPServer) -> None:
    where = LabelStudio(f"http://127.0.0.1:{studio.server_port}/", TOKEN)
    for value in (
        "http://example.com/data/upload/a.png",
        f"https://127.0.0.1:{studio.server_port}/data/upload/a.png",
        f"http://127.0.0.1:{studio.server_port + 1}/data/upload/a.png",
        f"http://user@127.0.0.1:{studio.server_port}/data/upload/a.png",
        "/api/projects",
        "/data/../api/projects",
        "/data/%2e%2e/api/projects",
        "/data/%252e%252e/api/projects",
        "//example.com/data/a.png",
        "file:///data/a.png",
        "data/a.png",
        "",
    ):
        with pytest.raises(RefusedError, match="Nothing is fetched from elsewhere"):
            where.fetch(value)
    assert Keeps.asked == []
    for value, words in (("/data/upload/elsewhere.png", "status 302"), ("/data/missing.png", "status 404")):
        with pytest.raises(RefusedError, match=words):
            where.fetch(value)
    assert Keeps.asked == ["/data/upload/elsewhere.png", "/data/missing.png"]  # who points elsewhere is not followed
    with pytest.raises(RefusedError, match="status 404"):
        LabelStudio(f"http://127.0.0.1:{studio.server_port}").fetch("/data/upload/1/red.png")
    for address in ("localhost:8080", "ftp://host", "http://", "http://host/?a=b"):
        with pytest.raises(ParameterError, match="--label-studio"):
            LabelStudio(address)


def test_photos_that_are_too_large_or_gone_are_refused(
    studio: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = LabelStudio(f"http://127.0.0.1:{studio.server_port}", TOKEN)
    monkeypatch.setattr("anacp.serve.fetching.BYTES", 20)
    with pytest.raises(RefusedError, match="at most 20 bytes"):
        where.fetch("/data/upload/1/red.png")
    with pytest.raises(RefusedError, match="no answer"):
        LabelStudio("http://127.0.0.1:9").fetch("/data/upload/1/red.png")
