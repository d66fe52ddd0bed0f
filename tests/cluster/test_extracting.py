"""Features made on a cluster are in the store of this machine."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from anacp import cluster
from anacp.backbones import Backbone
from anacp.encoders import Encoder, FeatureStore
from anacp.files import home
from tests.adaptation.models import examples
from tests.cluster.conftest import end

pytestmark = pytest.mark.cluster


def table(path: Path, texts: list[str]) -> str:
    path.write_text("text,label\n" + "".join(f"{text},{number % 3}\n" for number, text in enumerate(texts)))
    return str(path)


def test_every_row_is_stored_once_as_one_machine_makes_it(
    nodes: cluster.Cluster, workers: cluster.Pool, transformer: Callable[..., Backbone], tmp_path: Path
) -> None:
    workers.close()  # each node has one processor
    encoder = Encoder(transformer("bert"))
    texts = list(dict.fromkeys(examples("text", 90)[0]))
    shutil.rmtree(FeatureStore().root / encoder.fingerprint, ignore_errors=True)
    pool = cluster.pool_of(nodes, encoder, cpus=1)
    ended: list[int] = []

    def report(progress: object) -> None:
        working = [hand for hand in pool.hands if hand.pid and hand.work is not None]
        if working and not ended:
            ended.append(working[0].pid)
            end(working[0].pid)

    options = {"reading": cluster.Reading(), "rows": 5, "workers": pool, "report": report}
    done = cluster.extract(nodes, encoder, [table(tmp_path / "a.csv", texts)], **options)
    assert ended
    assert (done.rows, done.skipped) == (len(texts), [])
    assert sum(one.rows for one in done.tally.nodes.values()) == len(texts)
    stored = FeatureStore().features(encoder.parts[0].whole)
    assert len(stored) == len(texts)
    found = np.stack([stored.get(digest) for digest in encoder.digests(texts)])  # type: ignore[misc]
    np.testing.assert_array_equal(found, encoder.encode(texts).x)
    pool.close()


def test_the_plain_command_keeps_them_too(transformer: Callable[..., Backbone], tmp_path: Path) -> None:
    backbone = transformer("bert")
    texts = list(dict.fromkeys(examples("text", 30, seed=5)[0]))
    asked = [sys.executable, "-m", "anacp", "features", "extract", table(tmp_path / "a.csv", texts), "--json"]
    asked += ["--backbone", f"hf:{backbone.preset.source}"]
    environment = os.environ | {"ANACP_HOME": str(tmp_path / "home")}
    said = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True, env=environment).stdout)
    assert (said["rows"], said["n_features"], said["skipped"]) == (len(texts), backbone.n_features, [])
    assert str(home()) != environment["ANACP_HOME"]
    stored = FeatureStore(tmp_path / "home" / "features").features(backbone.whole)
    assert said["key"] == backbone.fingerprint
    assert len(stored) == len(texts)
