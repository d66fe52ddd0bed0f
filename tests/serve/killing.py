"""A teaching session that is killed at any moment: `python -m tests.serve.killing --kills 200`.

A process serves a model; this one teaches it and kills it without warning, again and again. After each kill the
journal is opened: every change that was answered must be there, at most one more (the one on its way), and what is
known must be what the journal's events make of nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from anacp import NCM, Classifier
from anacp.serve import Client, Service, ServiceError, address_of, bound, create_app, run
from anacp.serve.saving import Saver
from tests.adaptation.models import tiny
from tests.serve.serving import text_of
from tests.serve.test_journal import check_replays

LABELS = ("red", "green", "blue")


@dataclass
class Expected:
    """What was answered: the version, and the label of each content; and what may have been done without an answer."""

    version: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] | None = None  # what the labels would be after the change that was not answered


def start(model: Path, network: Path) -> tuple[int, Client]:
    """Serve the model in a process of its own, a fork of this one, which has imported everything."""
    with bound("127.0.0.1", 0) as listening:
        process = os.fork()
        if process == 0:
            try:
                with Service(model, empty(network)) as service:
                    run(create_app(service), listening)
            finally:
                os._exit(1)  # only a kill ends it
        address = address_of(listening)
    return process, Client(address, seconds=30)


def teach(client: Client, expected: Expected, chosen: random.Random) -> None:
    """Make one change, and note what it is when it is answered."""
    action = chosen.choice(["learn", "learn", "learn", "forget", "undo"])
    after = dict(expected.labels)
    if action == "undo" or (action == "forget" and not after):
        label, texts = chosen.choice(LABELS), [text_of("tree", chosen.randrange(1000)) for _ in range(3)]
        after |= dict.fromkeys(texts, label)
        expected.asked = after
        answer = client.learn(texts, label)
        if action == "undo" and answer["changed"]:
            expected.version, before, expected.labels = answer["version"], expected.labels, after
            expected.asked = before
            answer, after = client.undo(version=expected.version), before
    elif action == "learn":
        label, texts = (
            chosen.choice(LABELS),
            [text_of("house", chosen.randrange(1000)) for _ in range(chosen.randint(1, 4))],
        )
        after |= dict.fromkeys(texts, label)
        expected.asked = after
        answer = client.learn(texts, label)
    else:
        gone = chosen.choice(sorted(after))
        del after[gone]
        expected.asked = after
        answer = client.forget([gone])
    expected.version, expected.labels, expected.asked = answer["version"], after, None


def known(service: Service) -> dict[str, str]:
    rows = service.journal.rows("SELECT text, label FROM examples JOIN contents USING (digest)")
    return dict(rows)


def check(model: Path, network: Path, expected: Expected) -> None:
    """Open what is left, and compare it with what was answered."""
    with Service(model, empty(network)) as service:
        found, version = known(service), service.state.version
        if version == expected.version:
            assert found == expected.labels, "a change that was answered is not there"
        else:
            assert version == expected.version + 1, f"expected version {expected.version}, or one more, got {version}"
            assert found == expected.asked, "a change is half there"
        check_replays(service)
    expected.version, expected.labels, expected.asked = version, found, None


def empty(network: Path) -> Classifier:
    """A model that is quick to solve, so that a session has many changes."""
    return Classifier(f"hf:{network}", NCM())


def session(model: Path, network: Path, kills: int, seed: int = 0) -> int:
    """Teach and kill, and return the last version."""
    chosen, expected, begun = random.Random(seed), Expected(), time.monotonic()
    Saver.QUIET, Saver.MUCH = 0.02, 3  # the model is saved often, so that kills meet that too
    with Service(model.with_name("first.anacp"), empty(network)) as service:
        create_app(service)  # which imports all that forks will need
    for number in range(1, kills + 1):
        process, client = start(model, network)
        teach(client, expected, chosen)  # it has begun
        moment = threading.Timer(chosen.random() * chosen.choice([0.05, 0.5]), os.kill, [process, signal.SIGKILL])
        moment.start()
        try:
            while True:
                teach(client, expected, chosen)
        except ServiceError as problem:
            if problem.status:  # it is not gone, and refused something
                raise
        moment.join()
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        check(model, network, expected)
        if number % 20 == 0:
            print(f"{number} kills, version {expected.version}, {time.monotonic() - begun:.0f} s", flush=True)
    return expected.version


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ANACP_HOME": folder, "TOKENIZERS_PARALLELISM": "false"}
        tiny("bert", Path(folder))
        session(Path(folder) / "my.anacp", Path(folder) / "bert", given.kills, given.seed)
        print(f"{given.kills} kills: nothing that was answered is lost, nothing half-done shows")
