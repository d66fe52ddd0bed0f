"""`predict --unknown` and what `evaluate` says of classes that were never learned."""

import json
from pathlib import Path

import numpy as np
import pytest

import anacp as library
from anacp.testing import blobs
from tests.cli.conftest import anacp


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A model of five classes, rows of these and of two others, and rows of the others alone."""
    x, y = blobs(n_classes=7, n_rows=60, n_features=12)
    taught = y < 5
    library.SLDA().partial_fit(x[taught], y[taught]).solve(probabilities=True, unknown=True).save(tmp_path / "model")
    np.savez(tmp_path / "all.npz", xtr=x, ytr=y, xte=x, yte=y)
    np.savez(tmp_path / "others.npz", xtr=x[~taught], ytr=y[~taught], xte=x[~taught], yte=y[~taught])
    return tmp_path / "model", tmp_path / "all.npz", tmp_path / "others.npz"


def test_predict_says_what_is_none_of_these(made) -> None:
    model, every, others = made
    rows = json.loads(anacp("predict", model, every, "--unknown", "--json"))
    learner, x = library.load(model), np.load(every)["xte"].astype(np.float32)
    assert [row["unknown"] for row in rows] == (learner.familiarity(x) < 0).tolist()
    assert np.mean([row["unknown"] for row in json.loads(anacp("predict", model, others, "--unknown", "--json"))]) > 0.9
    wider = json.loads(anacp("predict", model, every, "--keep", 0.5, "--by", "score", "--json"))
    assert [row["unknown"] for row in wider] == (learner.familiarity(x, keep=0.5, by="score") < 0).tolist()
    assert "unknown" not in json.loads(anacp("predict", model, every, "--json"))[0]
    printed = anacp("predict", model, others, "--unknown").splitlines()
    assert sum(line.split("\t")[1] == "unknown" for line in printed) > 0.9 * len(printed)


def test_evaluate_says_how_well(made, error_of) -> None:
    model, every, others = made
    facts = json.loads(anacp("evaluate", model, every, "--json"))["unknown"]
    assert facts["examples"] == 120
    assert facts["known_kept"] > 85
    assert facts["unknown_found"] > 90
    assert facts["auroc"] > 95
    assert facts["false_positives_at_95"] < 20
    more = json.loads(anacp("evaluate", model, every, "--unknown-data", others, "--keep", 0.5, "--json"))["unknown"]
    assert more["examples"] == 360
    assert more["known_kept"] < facts["known_kept"]
    assert "unknown: of 120 examples" in anacp("evaluate", model, every)
    library.SLDA().partial_fit(*(np.load(every)[name] for name in ("xte", "yte"))).save(model)
    assert json.loads(anacp("evaluate", model, every, "--json"))["unknown"] is None
    assert "never learned" in error_of("evaluate", model, every, "--unknown-data", others)
    assert "Expected keep" in error_of("predict", model, every, "--keep", "1.5")
