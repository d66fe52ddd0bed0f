"""Many clients at one service, asking and teaching at once: python benchmarks/serve_load.py [--seconds 300]

A process serves a model of texts; this one has 200 clients on the same machine, each of which waits for an answer
before it asks again: 95 % predictions of texts never seen before, 5 % teaching (learn a text, forget one). Afterwards
every prediction is compared with a model of its version, made from the journal alone, and every change that was
answered is looked for. Then predictions alone go to the service and, beside it, to the same backbone without a model or
a journal: in plain FastAPI, and in LitServe with batches of as many texts, where that is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anacp import Classifier
from anacp.encoders import Encoder
from anacp.serve import Service, address_of, batching, bound, create_app, run
from anacp.serve.records import Stack
from anacp.serve.replaying import replayed
from anacp.serve.starting import started

SERVICE, FASTAPI, LITSERVE = "the service", "plain FastAPI", "LitServe"
SUBJECTS = ("weather", "money", "music", "travel", "food", "sport", "health", "school", "work", "garden")
QUESTION = (
    "what how when where please tell me about my our the a new old next last best price plan list time day week "
    "help book order find show change stop start send call near far long short good bad many few more less"
)
WORDS = QUESTION.split()


def sentence(chosen: random.Random, subject: str) -> str:
    """A text about a subject, hardly ever the same twice."""
    words = [chosen.choice(WORDS) for _ in range(chosen.randint(4, 10))]
    words.insert(chosen.randrange(len(words)), subject)
    return " ".join(words)


@dataclass
class Record:
    """What clients saw."""

    answers: dict[int, list[tuple[str, list[tuple[str, float]], bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    learned: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    refused: int = 0


class Line:
    """One connection that stays open."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        lines = answer.decode().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length"))
        return int(lines[0].split()[1]), json.loads(await self._reader.readexactly(length))

    def close(self) -> None:
        self._writer.close()


async def client(number: int, port: int, until: float, record: Record, teaching: float, path: str) -> None:
    chosen, line, mine = random.Random(number), Line(port), list[str]()
    await line.open()
    while time.monotonic() < until:
        subject, begun = chosen.choice(SUBJECTS), time.monotonic()
        text = sentence(chosen, subject)
        if chosen.random() >= teaching:
            status, found = await line.post(path, {"texts": [text]})
            record.seconds["predict"].append(time.monotonic() - begun)
            if status != 200:
                record.refused += 1
            elif "answers" in found:
                answer = found["answers"][0]
                top = [(one["label"], one["probability"]) for one in answer["top"]]
                record.answers[found["version"]].append((text, top, answer["unknown"]))
        elif mine and chosen.random() < 0.2:
            gone = mine.pop()
            status, found = await line.post("/v1/forget", {"texts": [gone]})
            record.seconds["teach"].append(time.monotonic() - begun)
            assert status == 200, found
            record.forgotten.add(gone)
        else:
            status, found = await line.post("/v1/learn", {"texts": [text], "label": subject})
            record.seconds["teach"].append(time.monotonic() - begun)
            assert status == 200, found
            if found["new"]:
                mine.append(text)
                record.learned[text] = subject
                record.forgotten.discard(text)
    line.close()


async def many(clients: int, port: int, seconds: float, teaching: float, path: str) -> Record:
    line = Line(port)
    await line.open()
    await line.post(path, {"texts": ["the first text waits for the backbone"]})
    line.close()
    record, until = Record(), time.monotonic() + seconds
    await asyncio.gather(*(client(number, port, until, record, teaching, path) for number in range(clients)))
    return record


@contextmanager
def served(model: Path, backbone: str, by: str = SERVICE) -> Iterator[int]:
    """Serve in a process of its own; lend its port."""
    command = [sys.executable, __file__, "--serve", str(model), "--backbone", backbone, "--by", by]
    if by == LITSERVE:
        command = [sys.executable, str(Path(__file__).with_name("serve_lit.py")), backbone]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None, f"{by} does not answer"
            time.sleep(0.1)
        yield port
        os.killpg(process.pid, signal.SIGTERM)  # LitServe has processes of its own


def serve(model: Path, backbone: str, by: str) -> None:
    """Serve until the process is told to end: the model, or nothing but the backbone."""
    batching.REMEMBERED = 0  # every text goes through the backbone
    with bound("127.0.0.1", 0) as listening, ExitStack() as ending:
        port = int(address_of(listening).rsplit(":", 1)[1].strip("/"))
        app = plain(Encoder(backbone)) if by == FASTAPI else create_app(ending.enter_context(Service(model)))
        run(app, listening, ready=lambda: print(port, flush=True))


def times(record: Record, seconds: float) -> str:
    lines = [f"{sum(map(len, record.seconds.values())) / seconds:.1f} requests a second, {record.refused} refused"]
    for kind, took in sorted(record.seconds.items()):
        p50, p95, p99 = (1000 * value for value in np.percentile(took, [50, 95, 99]))
        lines.append(f"{kind}: {len(took):,} requests, p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms")
    return "\n".join(lines)


def check(model: Path, record: Record, versions: int) -> None:
    """Compare what was answered with models from the journal alone, and look for every change that was answered."""
    from anacp.serve.journal import Journal

    journal = Journal(model.with_name(f"{model.name}.journal"))
    empty, _ = started(model, journal, None)
    rows = journal.rows("SELECT text, label FROM examples JOIN contents USING (digest)")
    known, events = dict(rows), journal.events()
    kept = {text: label for text, label in record.learned.items() if text not in record.forgotten}
    assert all(known.get(text) == label for text, label in kept.items()), "a change that was answered is lost"
    assert not record.forgotten & set(known), "an example that was forgotten is still there"
    print(f"{len(record.learned):,} learned and {len(record.forgotten):,} forgotten: all of them in the journal")
    answering = sorted(record.answers)
    chosen = (
        answering
        if len(answering) <= versions
        else [answering[i] for i in np.linspace(0, len(answering) - 1, versions).astype(int)]
    )
    classifier, before, worst, n, ties = empty, 0, 0.0, 0, 0
    for version in chosen:
        done = Stack.of([event for event in events if event.version <= version]).done
        later = [one for one in done if one > before]
        classifier, before = replayed(classifier, journal, later), version
        asked = record.answers[version]
        answers = classifier.answer([text for text, _, _ in asked], keep=0.95)
        places = {label: place for place, label in enumerate(answers.classes.tolist())}
        assert answers.familiarity is not None
        for row, (_, top, unknown) in enumerate(asked):
            chances = answers.probabilities[row]
            worst = max([worst, *(abs(float(chances[places[label]]) - chance) for label, chance in top)])
            best = float(np.sort(chances)[-1] - np.sort(chances)[-2])
            if top[0][0] != answers.classes[chances.argmax()] or unknown != bool(answers.familiarity[row] < 0):
                ties += 1
                near = best < 1e-3 or abs(float(answers.familiarity[row])) < 1e-2
                assert near, f"version {version} answered {top[0]}, its model says {answers.classes[chances.argmax()]}"
        n += len(asked)
    total = sum(map(len, record.answers.values()))
    print(f"{n:,} of {total:,} answers, by {len(chosen)} of {len(answering)} versions, compared with a model of that")
    print(f"version: none is wrong; probabilities differ by up to {worst:.1e}, {ties} answers were ties")
    assert worst < 5e-3
    journal.close()


def plain(encoder: Encoder) -> Any:
    """The same backbone in FastAPI, and nothing else."""
    from fastapi import FastAPI

    app = FastAPI()

    @app.post("/predict")
    def predict(body: dict[str, list[str]]) -> dict[str, list[float]]:
        return {"first": encoder.encode(body["texts"]).x[:, 0].tolist()}

    encoder.encode(["first"])
    return app


def compared(model: Path, asked: argparse.Namespace, path: str) -> None:
    """Print predictions alone, of the service and of others beside it, and the ratio of what a request takes."""
    others = [FASTAPI, *([LITSERVE] if importlib.util.find_spec("litserve") else [])]
    rates: dict[str, list[float]] = defaultdict(list)
    for _ in range(asked.rounds):  # in turn, so that what else the machine does meets all of them
        for by in (SERVICE, *others):
            with served(model, asked.backbone, by) as port:
                where = path if by == SERVICE else "/predict"
                only = asyncio.run(many(asked.clients, port, asked.plain_seconds, 0.0, where))
            assert not only.refused, f"{by} refused {only.refused} requests"
            rates[by].append(sum(map(len, only.seconds.values())) / asked.plain_seconds)
            print(f"{by}, predictions alone, {asked.plain_seconds:g} s: {times(only, asked.plain_seconds)}", flush=True)
    for by in others:
        ratio = np.median(rates[by]) / np.median(rates[SERVICE])
        print(f"a request takes {ratio:.2f} times what it takes {by} (medians of {asked.rounds} rounds)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--plain-seconds", type=float, default=30)
    parser.add_argument("--backbone", default="minilm-l6")
    parser.add_argument("--learner", default="AnaCP")
    parser.add_argument("--versions", type=int, default=10**9, help="how many versions are compared at most")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--by", default=SERVICE, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3, help="of the comparison")
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve, asked.backbone, asked.by)
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        model, first = Path(folder) / "load.anacp", Classifier(asked.backbone, asked.learner)
        chosen = random.Random("begin")
        texts = [(sentence(chosen, subject), subject) for subject in SUBJECTS for _ in range(10)]
        first.learn([text for text, _ in texts], [label for _, label in texts])
        first.solve().save(model, exact=True)
        path = "/v1/predict?k=10"
        with served(model, asked.backbone) as port:
            record = asyncio.run(many(asked.clients, port, asked.seconds, 0.05, path))
        print(f"{asked.clients} clients, {asked.seconds:g} s, {asked.backbone} and {asked.learner}, 95 % predictions")
        print(times(record, asked.seconds), flush=True)
        check(model, record, asked.versions)
        if asked.plain_seconds:
            compared(model, asked, path)
