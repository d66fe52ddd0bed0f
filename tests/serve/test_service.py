"""/v1, as a program meets it."""

import io
from pathlib import Path

import numpy as np
import pytest

from anacp import Classifier, load
from anacp.serve import Service
from tests.serve.serving import Asker, answering, empty, photo_of, serving, text_of


def taught(ask: Asker, *labels: str, n: int = 4) -> int:
    version = 0
    for label in labels:
        version = ask.learn(label, range(n))["version"]
    return version


def test_what_was_learned_just_now_answers(texts: Asker) -> None:
    assert texts.post("/v1/predict", {"texts": ["red"]}, status=409)["error"]["code"] == "nothing_learned"
    version = taught(texts, "red", "green")
    found = texts.post(f"/v1/predict?k=2&after={version}", {"texts": [text_of("red", 77), text_of("green", 77)]})
    assert found["version"] == version
    assert [one["top"][0]["label"] for one in found["answers"]] == ["red", "green"]
    for one in found["answers"]:
        assert one["label"] == (None if one["unknown"] else one["top"][0]["label"])
        assert sum(chance["probability"] for chance in one["top"]) == pytest.approx(1, abs=1e-4)
    assert len(texts.post("/v1/predict?k=1", {"texts": ["red"]})["answers"][0]["top"]) == 1
    assert texts.post("/v1/predict?after=99", {"texts": ["red"]}, status=409)["error"]["code"] == "no_such_version"


def test_learning_and_forgetting_is_idempotent_by_content(texts: Asker) -> None:
    first = texts.learn("red", range(3))
    assert (first["new"], first["known"], first["version"]) == (3, 0, 1)
    again = texts.learn("red", range(4))
    assert (again["new"], again["known"], again["version"]) == (1, 3, 2)
    nothing = texts.learn("red", range(4))
    assert (nothing["new"], nothing["known"], nothing["version"], nothing["changed"]) == (0, 4, 2, False)
    ids = [one["id"] for one in first["examples"]]
    assert texts.post("/v1/forget", {"ids": ids})["forgotten"] == 3
    gone = texts.post("/v1/forget", {"ids": ids})
    assert (gone["forgotten"], gone["version"], gone["changed"]) == (0, 3, False)
    assert texts.post("/v1/forget", {"texts": [text_of("red", 3), "never learned"]})["forgotten"] == 1
    assert texts.get("/v1/model")["n_examples"] == 0


def test_two_teachers_do_not_overwrite_each_other(texts: Asker) -> None:
    texts.learn("red", [1])
    seen = texts("GET", "/v1/model").headers["etag"]
    assert seen == '"1"'
    texts.learn("red", [2], headers={"If-Match": seen})
    for path, body in (
        ("/v1/learn", {"texts": ["a"], "label": "b"}),
        ("/v1/forget", {"texts": [text_of("red", 1)]}),
        ("/v1/classes/rename", {"old": "red", "new": "rot"}),
        ("/v1/classes/join", {"labels": ["red"], "into": "rot"}),
        ("/v1/classes/delete", {"label": "red"}),
        ("/v1/undo", {}),
    ):
        refused = texts.post(path, body, headers={"If-Match": seen}, status=412)
        assert refused["error"]["code"] == "changed_meanwhile"
    assert texts.get("/v1/model")["version"] == 2
    texts.post("/v1/undo", headers={"If-Match": '"2"'})


def test_content_moves_between_classes_and_back(texts: Asker) -> None:
    taught(texts, "red", "green")
    moved = texts.post("/v1/learn", {"texts": [text_of("red", 0)], "label": "green"})
    assert [one["from"] for one in moved["moved"]] == ["red"]
    assert texts.get("/v1/examples?label=green")["total"] == 5
    one = moved["moved"][0]["id"]
    texts.post("/v1/relabel", {"ids": [one], "label": "blue"})
    assert [shown["id"] for shown in texts.get("/v1/examples?label=blue")["examples"]] == [one]
    texts.post("/v1/undo", {"steps": 2})
    assert texts.get("/v1/examples?label=red")["total"] == 4
    model = texts.get("/v1/model")
    assert (model["can_undo"], model["can_redo"], len(model["classes"])) == (True, True, 2)
    texts.post("/v1/redo")
    assert texts.get("/v1/examples?label=green")["total"] == 5
    assert [event["undone"] for event in texts.get("/v1/history")["events"]] == [True, False, False, False]
    assert texts.post("/v1/redo", {"steps": 9}, status=409)["error"]["code"] == "nothing_to_redo"
    assert texts.post("/v1/relabel", {"ids": ["00" * 16], "label": "x"}, status=404)["error"]["code"] == "not_found"


def test_classes_are_renamed_joined_and_deleted(texts: Asker) -> None:
    taught(texts, "red", "green", "blue")
    texts.post("/v1/classes/rename", {"old": "red", "new": "a/ö <b>"})
    assert texts.post("/v1/classes/rename", {"old": "red", "new": "x"}, status=404)["error"]["code"] == "not_found"
    assert texts.post("/v1/classes/rename", {"old": "green", "new": "blue"}, status=422)["error"]["code"] == "input"
    texts.post("/v1/classes/join", {"labels": ["green", "blue"], "into": "cold"})
    assert {one["label"]: one["n"] for one in texts.get("/v1/model")["classes"]} == {"a/ö <b>": 4, "cold": 8}
    texts.post("/v1/undo")
    assert {one["label"]: one["n"] for one in texts.get("/v1/model")["classes"]} == {
        "a/ö <b>": 4,
        "blue": 4,
        "green": 4,
    }
    assert texts("DELETE", "/v1/classes/a%2F%C3%B6%20%3Cb%3E").json["forgotten"] == 4
    assert texts.post("/v1/classes/delete", {"label": "green"})["forgotten"] == 4
    assert [one["label"] for one in texts.get("/v1/model")["classes"]] == ["blue"]
    for label in ("", "  ", "x" * 201, "a\nb", "a\x00"):
        assert texts.post("/v1/learn", {"texts": ["red"], "label": label}, status=422)["error"]["code"] == "input"


def test_photos_are_kept_small_and_known_by_content(photos: Asker) -> None:
    for label in ("red", "blue"):
        found = photos.photos("/v1/learn", [photo_of(label, n) for n in range(4)], {"label": label})
        assert found["new"] == 4
    assert photos.photos("/v1/learn", [photo_of("red", 0)], {"label": "red"})["known"] == 1
    shown = photos.get("/v1/examples?label=red&limit=2")
    assert (shown["total"], len(shown["examples"]), shown["examples"][0]["kind"]) == (4, 2, "image")
    picture = photos("GET", shown["examples"][0]["thumbnail"])
    assert (picture.headers["content-type"], picture.content[:2]) == ("image/jpeg", b"\xff\xd8")
    found = photos.photos(f"/v1/predict?after={2}", [photo_of("red", 9), b"no picture", photo_of("blue", 9)])["answers"]
    assert [one["top"][0]["label"] if one["top"] else None for one in found] == ["red", None, "blue"]
    assert "unreadable" in found[1]["problem"]
    near = photos.get(f"/v1/examples/{shown['examples'][0]['id']}/similar?k=3")["examples"]
    assert [one["label"] for one in near] == ["red"] * 3
    assert near[0]["similarity"] >= near[1]["similarity"]


def test_what_cannot_be_read_refuses_all_or_is_left_out(photos: Asker) -> None:
    given = [photo_of("red", 1), b"GIF89a no picture", b""]
    refused = photos.photos("/v1/learn", given, {"label": "red"}, status=422)["error"]
    assert (refused["code"], photos.get("/v1/model")["version"]) == ("unreadable", 0)
    found = photos.photos("/v1/learn?on_error=skip", given, {"label": "red"})
    assert (found["new"], len(found["skipped"])) == (1, 2)
    assert (
        photos.photos("/v1/learn?on_error=skip", given[1:], {"label": "red"}, status=422)["error"]["code"]
        == "unreadable"
    )


def test_a_path_that_a_client_names_is_a_name_and_nothing_else(photos: Asker, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(photo_of("red", 1))
    refused = photos.post("/v1/learn", {"texts": [str(tmp_path / "secret.png")], "label": "red"}, status=422)
    assert refused["error"]["code"] == "modality"
    assert (
        photos.post("/v1/predict", {"texts": [str(tmp_path / "secret.png")]}, status=422)["error"]["code"] == "modality"
    )
    body = photos.photos("/v1/learn", [photo_of("red", 1)], {"label": "red", "names": "../../x"})
    assert body["new"] == 1
    assert photos("GET", "/page/..%2F..%2Fapp.py", status=None).status == 404
    assert photos("GET", "/page/%2Fetc%2Fpasswd", status=None).status == 404


def test_the_pile_gives_the_most_uncertain_first(texts: Asker) -> None:
    taught(texts, "red", "green")
    unclear = "red green"
    added = texts.post("/v1/pile", {"texts": [text_of("red", 50), unclear, text_of("green", 50)]})
    assert added["added"] == 3
    assert texts.post("/v1/pile", {"texts": [unclear]})["added"] == 0
    texts.post("/v1/predict?after=2", {"texts": ["red"]})  # solved by then
    pile = texts.get("/v1/pile")
    chances = [one["guess"]["top"] for one in pile["pile"]]
    margins = [top[0]["probability"] - top[1]["probability"] for top in chances]
    assert margins == sorted(margins)
    assert pile["total"] == texts.get("/v1/model")["pile"] == 3
    first = pile["pile"][0]
    assert texts.post(f"/v1/pile/{first['id']}/label", {"label": "red"})["new"] == 1
    assert texts.get("/v1/pile")["total"] == 2
    texts.post("/v1/undo")  # the label is taken back, so it waits again
    assert texts.get("/v1/pile")["total"] == 3
    assert texts("DELETE", f"/v1/pile/{first['id']}").json["removed"] == 1
    texts("DELETE", f"/v1/pile/{first['id']}", status=404)
    texts.post("/v1/pile/" + "00" * 16 + "/label", {"label": "red"}, status=404)


def test_a_wrong_label_is_suspected(texts: Asker) -> None:
    assert texts("GET", "/v1/suspects", status=422).json["error"]["code"] == "input"
    taught(texts, "red", "green", n=24)
    assert texts.get("/v1/accuracy")["accuracy"] == 1.0
    wrong = texts.post("/v1/learn", {"texts": [text_of("red", 99)], "label": "green"})["examples"][0]["id"]
    found = texts.get("/v1/suspects")
    assert (found["suspects"][0]["id"], found["suspects"][0]["rather"]) == (wrong, "red")
    pair = texts.get("/v1/confusions")["confusions"][0]
    assert pair["labels"] == ["green", "red"]
    assert wrong in [one["id"] for one in pair["examples"][0]]
    accuracy = texts.get("/v1/accuracy")
    assert (accuracy["n"], accuracy["accuracy"]) == (49, pytest.approx(1 - found["total"] / 49, abs=1e-4))
    classes = texts.get("/v1/classes")["classes"]
    assert {one["label"] for one in classes} <= {"red", "green"}


def test_a_model_is_exported_and_merged_with_a_preview(texts: Asker, tmp_path: Path, bert: Path) -> None:
    texts("GET", "/v1/export", status=409)
    version = taught(texts, "red", "green")
    texts.post(f"/v1/predict?after={version}", {"texts": ["red"]})
    exported = texts("GET", "/v1/export?as=model")
    (tmp_path / "out.anacp").write_bytes(exported.content)
    model = load(tmp_path / "out.anacp")
    assert isinstance(model, Classifier)
    assert (model.n_examples, exported.headers["etag"]) == (8, '"2"')
    assert texts("GET", "/v1/export?as=onnx").content[:4] != b""
    assert b"<!DOCTYPE html>" in texts("GET", "/v1/export?as=report").content
    texts("GET", "/v1/export?as=pickle", status=422)

    other = empty(bert)
    other.learn([text_of("red", 0), text_of("blue", 0)], ["red", "blue"])
    other.save(tmp_path / "other.anacp")
    preview = texts.photos("/v1/import/preview", [(tmp_path / "other.anacp").read_bytes()])
    token = preview.pop("token")
    assert preview == {
        "version": 2, "classes_new": ["blue"], "classes_shared": ["red"], "examples_new": 1, "examples_shared": 1,
    }  # fmt: skip
    assert texts.post("/v1/import", {"token": token})["new"] == 1
    texts.post("/v1/import", {"token": token}, status=404)
    assert texts.get("/v1/model")["n_examples"] == 9
    broken = texts.photos("/v1/import/preview", [b"no model at all"], status=422)
    assert broken["error"]["code"] == "model_file"


def test_versions_are_told_as_they_come(texts: Asker) -> None:
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", texts.port, timeout=30)
    connection.request("GET", "/v1/events")
    answer = connection.getresponse()
    assert answer.readline() == b'data: {"version": 0, "solved_version": 0}\n'
    texts.learn("red", [1])
    told = b""
    while b'"solved_version": 1' not in told:
        told = answer.readline()
    connection.close()


def test_a_folder_is_learned_meanwhile_and_goes_on_after_a_restart(tmp_path: Path, vit: Path) -> None:
    from tests.methods.inputs import folder

    photos, model = folder(tmp_path / "photos", ["red", "blue"], range(20)), tmp_path / "m.anacp"
    (photos / "red" / "broken.png").write_bytes(b"no picture")
    with Service(model, empty(vit)) as service:
        job = service.worker.add(str(photos))
        while service.worker.jobs()[0].done < 16:
            assert service.worker.jobs()[0].state == "running"
    with Service(model, empty(vit)) as service, answering(service) as ask:
        while ask.get("/v1/jobs")["jobs"][0]["state"] == "running":
            pass
        found = ask.get("/v1/jobs")["jobs"][0]  # the broken one was looked at, and left out
        assert (found["id"], found["state"], found["done"], found["total"]) == (job.id, "done", 41, 41)
        assert ask.get("/v1/model")["n_examples"] == 40
        assert ask.get("/v1/examples?label=red&limit=1")["examples"][0]["name"].endswith(".png")
        service.worker.add(str(tmp_path / "nothing"))
        while ask.get("/v1/jobs")["jobs"][0]["state"] == "running":
            pass
        assert ask.get("/v1/jobs")["jobs"][0]["state"] == "failed"
        assert ask.post(f"/v1/jobs/{job.id}/stop")["job"]["state"] == "done"
        ask.post("/v1/jobs/77/stop", status=404)


def test_restarting_gives_the_same_answers(tmp_path: Path, bert: Path) -> None:
    probes = {"texts": [text_of(label, 500 + number) for label in ("red", "green", "blue") for number in range(4)]}
    with serving(tmp_path / "m.anacp", bert) as ask:
        version = taught(ask, "red", "green", "blue")
        before = ask.post(f"/v1/predict?after={version}", probes)
    with serving(tmp_path / "m.anacp", bert) as ask:
        after = ask.post("/v1/predict", probes)
    assert after["version"] == before["version"]
    chances = [[[p["probability"] for p in one["top"]] for one in found["answers"]] for found in (before, after)]
    np.testing.assert_allclose(chances[0], chances[1], atol=1e-4)


def test_the_numbers_are_those_of_prometheus(texts: Asker) -> None:
    taught(texts, "red")
    texts("GET", "/nowhere", status=404)
    lines = texts("GET", "/metrics").content.decode().splitlines()
    assert 'anacp_requests_total{method="POST",route="/v1/learn",status="200"} 1' in lines
    assert "anacp_version 1" in lines
    assert "anacp_examples 4" in lines
    assert any(line.startswith('anacp_request_seconds_bucket{route="/v1/learn",le="+Inf"} 1') for line in lines)
    assert texts.get("/v1/health/live") == {"live": True}
    assert texts.get("/v1/health/ready")["ready"] is True
    assert io.BytesIO(texts("GET", "/").content).read(15) == b"<!DOCTYPE html>"
