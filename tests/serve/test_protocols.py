"""The Open Inference Protocol, as its documentation has it."""

import base64

from tests.serve.serving import Asker, photo_of, text_of


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
