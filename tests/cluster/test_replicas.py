"""Copies of a served model on a cluster: they follow the writer, and come back when killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anacp import AnaCP, cluster, load_sample
from anacp.errors import NotLearnedError
from anacp.learners import only_answering
from anacp.serve import Service, replicated
from tests.adaptation.models import tiny
from tests.serve.serving import Asker, empty, text_of
from tests.serve.serving import answering as asked

LACKING = find_spec("ray") is None or find_spec("aiohttp_cors") is None  # which only ray[serve] brings
pytestmark = pytest.mark.cluster
needs_serve = pytest.mark.skipif(LACKING, reason="needs Ray Serve: pip install 'anacp[ray-serve]'")


def until(found: Callable[[], Any], what: str, seconds: float = 120) -> Any:
    """Return what is found once it is; what fails meanwhile is asked again."""
    end, problem = time.monotonic() + seconds, None
    while time.monotonic() < end:
        try:
            answer = found()
        except (OSError, AssertionError) as error:
            answer, problem = None, error
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"expected {what}, got {problem or 'nothing'}")


def test_a_learner_that_only_answers_is_small_and_answers_alike() -> None:
    sample = load_sample("clinc150")
    learner = AnaCP(n_projected=100).partial_fit(sample.x_train[:2000], sample.y_train[:2000])
    with pytest.raises(NotLearnedError, match="solve"):
        only_answering(learner.solve())
    only = only_answering(learner.solve(probabilities=True, unknown=True))
    assert only._knowledge.memory.statistics == {}
    x = sample.x_test[:50]
    for one, other in zip(only.judged(x, keep=0.9), learner.judged(x, keep=0.9), strict=True):
        assert np.array_equal(one, other)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks")
    tiny("bert", folder)
    return folder / "bert"


@pytest.fixture
def copies(tmp_path: Path, bert: Path, nodes: cluster.Cluster) -> Iterator[tuple[Asker, Asker]]:
    """A writer, who asks it, and who asks two copies."""
    port = 18_431
    with (
        Service(tmp_path / "my.anacp", empty(bert)) as service,
        asked(service) as writer,
        replicated(service, nodes, 2, port=port, num_cpus=0.5),
    ):
        yield writer, Asker(port)


def processes(asker: Asker) -> set[int]:
    """Return which processes answer."""
    return {asker.get("/v1/health/ready")["process"] for _ in range(20)}


@needs_serve
def test_copies_follow_the_writer_and_come_back(copies: tuple[Asker, Asker]) -> None:
    writer, asker = copies
    text = {"texts": [text_of("red", 77), text_of("green", 78)]}
    assert asker("POST", "/v1/predict", text, status=None).status in (409, 422), "nothing was learned yet"
    writer.learn("red", range(8))
    version = writer.learn("green", range(8, 16))["version"]

    def answers_of(version: int, n: int = 20) -> bool:
        return all(asker.post("/v1/predict", text)["version"] == version for _ in range(n))

    until(lambda: answers_of(version), f"version {version} of every copy")
    expected = writer.post(f"/v1/predict?after={version}", text)
    assert {one["label"] for one in expected["answers"]} == {"red", "green"}
    assert all(asker.post("/v1/predict", text) == expected for _ in range(10))
    version = writer.learn("tree", range(16, 24))["version"]
    until(lambda: answers_of(version), f"version {version} of every copy")
    assert asker.post("/v1/predict", text) == writer.post(f"/v1/predict?after={version}", text)
    before = asker.post("/v1/predict", text)
    victim = until(lambda: len(found := processes(asker)) == 2 and found, "two copies").pop()
    os.kill(victim, signal.SIGKILL)
    until(lambda: len(now := processes(asker)) == 2 and victim not in now, "a copy in place of the killed one")
    until(lambda: answers_of(version), f"version {version} of every copy")
    assert asker.post("/v1/predict", text) == before
    assert asker("POST", "/v1/predict", {"texts": [""] * 2}, status=None).status in (200, 422)
    assert asker("POST", "/v1/learn", text, status=None).status == 404, "a copy is not taught"
