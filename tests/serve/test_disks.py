"""Disks that are full, or slow: nothing answered is lost, nothing half-done shows, and it goes on."""

import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anacp.errors import DiskError
from anacp.serve import Client, Service, ServiceError
from anacp.serve.saving import Saver
from tests.methods.inputs import folder as photo_folder
from tests.serve.driving import Server
from tests.serve.serving import Asker, answering, empty, serving, text_of
from tests.serve.test_journal import check_replays, learn

ROOM = 4_000_000  # bytes of the small disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as problem:
        pytest.skip(f"needs to mount a small disk, as root of a Linux machine: {problem}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Take all the room there is."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4096):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
    return filler


def refused_at_last(ask: Asker) -> tuple[dict[str, str], int, int]:
    """Teach until the disk is full; return what is said then, and how many were answered, up to which version."""
    answered, version = 0, ask.get("/v1/model")["version"]
    for number in range(2000):
        found = ask("POST", "/v1/learn", {"texts": [text_of("green", number)], "label": "green"}, status=None)
        if found.status != 200:
            assert found.status == 507, found.content
            return found.json["error"], answered, version
        answered, version = answered + 1, found.json["version"]
    raise AssertionError("the disk is never full")


def test_a_full_disk_refuses_in_words_and_goes_on_when_there_is_room(disk: Path, bert: Path) -> None:
    model = disk / "my.anacp"
    with serving(model, bert) as ask:
        version = ask.learn("red", range(4))["version"]
        ask.post(f"/v1/predict?after={version}", {"texts": [text_of("red", 70)]})
        filler = fill(disk)
        said, learned, version = refused_at_last(ask)
        assert said["code"] == "disk"
        assert "full" in said["message"]
        assert "Make room" in said["advice"]
        # What cannot be written changes nothing: not the version, not the examples, not the pile, not the jobs.
        for _ in range(3):
            ask.post("/v1/learn", {"texts": [text_of("blue", 1)], "label": "blue"}, status=507)
            ask.post("/v1/pile", {"texts": [text_of("blue", 2) * 90]}, status=507)
        now = ask.get("/v1/model")
        assert (now["version"], now["n_examples"], now["pile"]) == (version, 4 + learned, 0)
        assert [one["label"] for one in now["classes"]] == (["green", "red"] if learned else ["red"])
        found = ask.post(f"/v1/predict?after={version}", {"texts": [text_of("red", 70)]})  # asking goes on
        assert found["answers"][0]["top"][0]["label"] == "red"
        filler.unlink()
        ask.post("/v1/learn", {"texts": [text_of("blue", 1)], "label": "blue"})
    with Service(model) as service:
        assert service.journal.counts() == {"red": 4, "blue": 1} | ({"green": learned} if learned else {})
        check_replays(service)


def test_a_model_file_that_has_no_room_is_said_and_written_later(
    disk: Path, bert: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Saver, "QUIET", 0.3)
    model = disk / "my.anacp"
    with serving(model, bert) as ask:
        ask.learn("red", range(4))
        filler = fill(disk)
        said = until(lambda: ask.get("/v1/model").get("problem"))
        assert "The model file is behind, and the journal has it all" in said
        assert not model.exists()
        assert len(caplog.records) == 1, "said once, however often it is tried"
        filler.unlink()
        until(lambda: "problem" not in ask.get("/v1/model"))
        assert model.exists()


def test_an_end_without_room_says_that_nothing_is_lost(disk: Path, bert: Path) -> None:
    model = disk / "my.anacp"
    service = Service(model, empty(bert))
    learn(service, "red", [1, 2, 3])
    filler = fill(disk)
    with pytest.raises(DiskError, match="Nothing is lost") as ended:
        service.close()
    assert "\n" not in str(ended.value)
    filler.unlink()
    with Service(model, empty(bert)) as service:
        assert service.journal.counts() == {"red": 3}
        check_replays(service)


def test_a_folder_that_a_full_disk_stops_goes_on(disk: Path, vit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anacp.serve.working.AGAIN", 0.1)
    photos = photo_folder(disk.parent / "photos", ["red", "blue"], range(40))
    with Service(disk / "my.anacp", empty(vit)) as service, answering(service) as ask:
        filler = disk / "filler"
        filler.write_bytes(bytes(ROOM - 220_000))

        def job() -> dict[str, Any]:
            return ask.get("/v1/jobs")["jobs"][0]

        service.worker.add(str(photos))
        assert "full" in until(lambda: job()["problem"])
        assert job()["state"] == "running"
        assert ask.get("/v1/model")["n_examples"] < 80
        filler.unlink()
        until(lambda: job()["state"] == "done")
        assert job()["problem"] is None
        assert service.journal.counts() == {"red": 40, "blue": 40}


def test_a_slow_disk_keeps_nobody_who_asks_and_loses_nothing(tmp_path: Path, bert: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs Linux and a C compiler, which make a disk slow")
    library, source = tmp_path / "slow_disk.so", Path(__file__).with_name("slow_disk.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    slow = {"LD_PRELOAD": str(library), "SLOW_FOLDER": str(tmp_path), "SLOW_MILLISECONDS": "700"}
    model = tmp_path / "my.anacp"
    with Service(model, empty(bert)) as service:
        learn(service, "red", range(4))
        learn(service, "blue", range(4))
    server = Server(model, environment=slow).start()
    client, answered = Client(server.address), list[int]()

    def teach() -> None:
        with suppress(ServiceError):  # the last of them is cut off
            for number in range(100):
                client.learn([text_of("green", number)], "green")
                answered.append(number)

    teachers = [threading.Thread(target=teach) for _ in range(60)]  # more than there are threads for those who read
    for one in teachers:
        one.start()
    # Each change is synced, which takes its time; those who ask are answered many times in between.
    begun, asked = len(answered), 0
    while len(answered) < begun + 3:
        assert client.predict([text_of("red", 70)])["answers"][0]["top"][0]["label"] == "red"
        assert client.model()["n_examples"] >= 8
        asked += 1
    assert asked > 6
    server.stop(signal.SIGKILL)
    for one in teachers:
        one.join()
    with Service(model) as service:
        kept = {text for (text,) in service.journal.rows("SELECT text FROM contents")}
        assert {text_of("green", number) for number in answered} <= kept
        check_replays(service)


def until(found: Callable[[], Any]) -> Any:
    """Ask until there is an answer; a test that waits for ever is ended by its time limit."""
    while not (answer := found()):
        time.sleep(0.02)
    return answer
