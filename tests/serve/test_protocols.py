"""The Open Inference Protocol and Label Studio's, as their documentations have them."""

import base64
from pathlib import Path
from typing import Any

from tests.serve.serving import Asker, photo_of, text_of

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


def test_open_inference(texts: Asker) -> None:
    assert texts.get("/v2")["name"] == "anacp"
    assert texts.get("/v2/health/live") == {"live": True}
    texts("GET", "/v2/health/ready", status=503)
    for label in ("red", "green"):
        version = texts.learn(label, range(4))["version"]
    texts.post(f"/v1/predict?after={version}", {"texts": ["red"]})
    assert texts.get("/v2/models/my/ready") == {"name": "my", "ready": True}
    about = texts.get("/v2/models/my")
    assert (about["versions"], about["inputs"]) == (
        [str(version)],
        [{"name": "texts", "datatype": "BYTES", "shape": [-1]}],
    )
    data = [text_of("red", 60), text_of("green", 60), text_of("red", 61)]
    asked = {"id": "42", "inputs": [{"name": "texts", "shape": [3], "datatype": "BYTES", "data": data}]}
    found = texts.post("/v2/models/my/infer", asked)
    assert (found["id"], found["model_name"], found["model_version"]) == ("42", "my", str(version))
    outputs = {one["name"]: one for one in found["outputs"]}
    assert {name: (one["datatype"], one["shape"]) for name, one in outputs.items()} == {
        "label": ("BYTES", [3]), "probability": ("FP32", [3]), "unknown": ("BOOL", [3]),
        "probabilities": ("FP32", [3, 2]), "classes": ("BYTES", [2]),
    }  # fmt: skip
    assert outputs["label"]["data"] == ["red", "green", "red"]
    assert outputs["classes"]["data"] == ["green", "red"]
    same = texts.post("/v1/predict?k=2", {"texts": data})["answers"]
    assert [round(one, 4) for one in outputs["probability"]["data"]] == [round(one["probability"], 4) for one in same]
    some = texts.post("/v2/models/my/infer", asked | {"outputs": [{"name": "label"}]})
    assert [one["name"] for one in some["outputs"]] == ["label"]
    texts.post("/v2/models/other/infer", asked, status=404)
    texts.post(f"/v2/models/my/versions/{version}/infer", asked)
    texts.post("/v2/models/my/versions/99/infer", asked, status=404)
    for change in ({"shape": [2]}, {"datatype": "FP32"}, {"name": "x"}, {"data": [1, 2, 3]}):
        wrong = {"inputs": [asked["inputs"][0] | change]}  # type: ignore[index, operator]
        texts.post("/v2/models/my/infer", wrong, status=422)


def test_open_inference_takes_photos_in_base_64(photos: Asker) -> None:
    for label in ("red", "blue"):
        photos.photos("/v1/learn", [photo_of(label, n) for n in range(3)], {"label": label})
    photos.photos("/v1/predict?after=2", [photo_of("red", 0)])
    data = [base64.b64encode(photo_of("blue", 9)).decode()]
    asked = {"inputs": [{"name": "images", "shape": [1], "datatype": "BYTES", "data": data}]}
    found = photos.post("/v2/models/my/infer", asked)
    assert found["outputs"][0]["data"] == ["blue"]
    asked["inputs"][0]["data"] = ["/etc/passwd"]
    photos.post("/v2/models/my/infer", asked, status=422)
