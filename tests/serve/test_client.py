"""The thin client, and the command around the service."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anacp import load
from anacp.serve import Client, Service, ServiceError
from tests.serve.serving import Asker, answering, empty, photo_of, text_of


def test_the_client_does_what_the_service_does(texts: Asker, tmp_path: Path) -> None:
    client = Client(f"http://127.0.0.1:{texts.port}")
    for label in ("red", "green"):
        version = client.learn([text_of(label, n) for n in range(4)], label)["version"]
    assert client.predict([text_of("red", 70)], after=version)["answers"][0]["top"][0]["label"] == "red"
    ids = [one["id"] for one in client.examples("red")["examples"]]
    client.relabel(ids[:1], "blue", version=version)
    with pytest.raises(ServiceError) as refused:
        client.forget(ids=ids[:1], version=version)
    assert (refused.value.status, refused.value.code) == (412, "changed_meanwhile")
    client.rename("blue", "navy")
    client.join(["navy", "red"], "warm")
    assert {one["label"]: one["n"] for one in client.model()["classes"]} == {"warm": 4, "green": 4}
    client.undo(3)
    client.redo()
    assert client.forget([text_of("green", 0)])["forgotten"] == 1
    assert client.delete_class("green")["forgotten"] == 3
    assert client.history(1)[0]["what"] == "forget"
    client.undo()
    version = client.model()["version"]
    client.predict(["red"], after=version)
    assert client.accuracy()["n"] == 7
    assert {one["label"] for one in client.classes()} == {"blue", "red", "green"}
    assert load(client.export(tmp_path / "out.anacp")).n_examples == 7


def test_the_client_sends_photos(tmp_path: Path, vit: Path) -> None:
    with Service(tmp_path / "m.anacp", empty(vit)) as service, answering(service) as ask:
        client = Client(f"http://127.0.0.1:{ask.port}/")
        (tmp_path / "ä photo.png").write_bytes(photo_of("red", 1))
        assert client.learn([tmp_path / "ä photo.png", photo_of("red", 2)], "red")["new"] == 2


def test_no_service_is_said() -> None:
    with pytest.raises(ServiceError, match="no answer") as refused:
        Client("http://127.0.0.1:9").model()
    assert refused.value.status == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_and_ends_in_order(how: signal.Signals, tmp_path: Path, bert: Path) -> None:
    model = tmp_path / "my.anacp"
    command = [
        sys.executable,
        "-m",
        "anacp",
        "serve",
        model,
        "--backbone",
        f"hf:{bert}",
        "--learner",
        "NCM",
        "--port",
        "0",
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found is not None
        client = Client(found[0])
        while True:  # printed before the first request is taken
            try:
                client.model()
                break
            except ServiceError:
                time.sleep(0.05)
        client.learn([text_of("red", 1)], "red")
        process.send_signal(how)
        assert process.wait(60) == 0
    assert load(model).n_examples == 1  # the file has what was taught
    assert {one.name for one in tmp_path.iterdir()} == {"my.anacp", "my.anacp.journal"}
