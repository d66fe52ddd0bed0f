"""The OpenAPI document is true: whatever follows it, or does not, is answered, never by a failure."""

import json
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error

from tests.serve.serving import Asker, serving, text_of

LEFT_OUT = ("/v1/events",)  # never ends


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory, bert: Path):
    with serving(tmp_path_factory.mktemp("openapi") / "my.anacp", bert) as found:
        for label in ("red", "green"):
            found.learn(label, range(4))
        yield found


def test_the_document_names_every_path_with_its_bodies(ask: Asker) -> None:
    document = ask.get("/openapi.json")
    for path in ("learn", "forget", "relabel", "predict", "classes", "history", "undo", "export", "model", "examples"):
        assert f"/v1/{path}" in document["paths"]
    assert {"/v2/models/{model}/infer", "/predict", "/setup", "/webhook", "/health", "/metrics"} <= set(
        document["paths"]
    )
    learn = document["paths"]["/v1/learn"]["post"]["requestBody"]["content"]
    assert set(learn) == {"multipart/form-data", "application/json"}
    ask.post("/v1/learn", learn["application/json"]["example"])  # the example can be sent as it is
    assert text_of("red", 0) not in json.dumps(document)


def test_whatever_the_document_allows_is_answered(ask: Asker) -> None:
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{ask.port}/openapi.json")
    operations = [one.ok() for one in schema.get_all_operations() if one.ok().path not in LEFT_OUT]
    assert len(operations) > 35

    @settings(
        max_examples=300,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(data=st.data())
    def all_of_them(data: st.DataObject) -> None:
        case = data.draw(data.draw(st.sampled_from(operations)).as_strategy())
        case.call_and_validate(checks=[not_a_server_error], timeout=60)

    all_of_them()
    assert ask.get("/v1/health/live") == {"live": True}
