"""The snippet of docs/cluster.md runs as it stands: `connected` uses the connection to the cluster of the tests."""

import re
from pathlib import Path

import pytest

import anacp
from anacp import cluster
from tests.backbones.models import needs_minilm
from tests.methods.inputs import SENTENCES, table

pytestmark = pytest.mark.cluster
PAGE = Path(__file__).resolve().parents[2] / "docs" / "cluster.md"


@needs_minilm
def test_the_snippet(
    nodes: cluster.Cluster,
    workers: cluster.Pool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    workers.close()  # each node has one processor
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for label in SENTENCES:
        table(tmp_path / "texts" / f"{label}.csv", [label])
    (snippet,) = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    exec(compile(snippet, str(PAGE), "exec"), {})
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "12"
    assert any(re.match(r"node .* rows? in .* shards?", line) for line in said)
    found = anacp.load("my.anacp")
    assert isinstance(found, anacp.Classifier)
    assert found.predict(["will it rain today?"]).tolist() == ["weather"]
