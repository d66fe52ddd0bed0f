"""`info`, `predict` and `evaluate` work on every model that a run leaves, whatever kind it is."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from anacp import AnaCP, load
from anacp.cli.app import app
from anacp.statistics import coding
from tests.adaptation.models import WORDS, tiny
from tests.conftest import blobs

pytest.importorskip("transformers")


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences of three classes, each told by its first word, and the folder of a small network beside them."""
    folder = tmp_path_factory.mktemp("texts")
    rows = [f"{WORDS[n % 3]} {WORDS[3 + n % 6]} {WORDS[3 + n % 5]}" for n in range(60)]
    splits = ["test" if n >= 42 else "train" for n in range(60)]
    lines = [f"{text},topic {n % 3},{split}" for n, (text, split) in enumerate(zip(rows, splits, strict=True))]
    (folder / "texts.csv").write_text("\n".join(["text,label,split", *lines]))
    tiny("bert", folder)
    return folder


def left_by_a_run(texts: Path, kind: str, folder: Path) -> tuple[Path, list[str], list[str]]:
    """Return the model that a run leaves, what it predicts from, and what it is evaluated on."""
    if kind == "learner":
        x, y = blobs(n_classes=3)
        np.savez(folder / "blobs.npz", xtr=x, ytr=y, xte=x[:9], yte=y[:9])
        run("run", "--dataset", folder / "blobs.npz", "--method", "SLDA", "--tasks", 3, "--output", folder / "out")
        inputs, examples = [str(folder / "blobs.npz")], [str(folder / "blobs.npz")]
    else:
        method = {"classifier": ["NCM"], "trained": ["JointLinearProbe", "--set", "epochs=20", "--set", "rate=0.1"]}
        data = ["--dataset", texts / "texts.csv", "--backbone", f"hf:{texts / 'bert'}", "--tasks", 3]
        run("run", *data, "--method", *method[kind], "--output", folder / "out")
        inputs, examples = ["red tree", "blue car"], [str(texts / "texts.csv"), "--split", "test"]
    (model,) = (folder / "out").rglob("model.anacp")
    return model, inputs, examples


@pytest.mark.parametrize("kind", ["learner", "classifier", "trained"])
def test_every_kind(texts: Path, tmp_path: Path, kind: str) -> None:
    model, inputs, examples = left_by_a_run(texts, kind, tmp_path)
    facts = json.loads(run("info", model, "--json"))
    assert facts["kind"] == kind
    assert len(facts["classes"]) == 3
    printed = run("info", model)
    assert ("backbone  none" in printed) == (kind == "learner")
    rows = json.loads(run("predict", model, *inputs, "--json", "--top", 3))
    assert len(rows) == (9 if kind == "learner" else 2)
    assert all(sum(best["probability"] for best in row["top"]) == pytest.approx(1, abs=1e-4) for row in rows)
    if kind != "learner":
        assert [row["top"][0]["label"] for row in rows] == ["topic 0", "topic 2"]
    results = json.loads(run("evaluate", model, *examples, "--json"))
    assert results["accuracy"] > 80
    assert results["examples"] == (9 if kind == "learner" else 18)


def test_info_tells_how_a_model_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "WORTHWHILE", 0)
    model = AnaCP(n_projected=30).partial_fit(*blobs(n_rows=100))
    for exact, words in ((True, "every bit"), (False, "large matrices in fewer bits")):
        model.save(tmp_path / "model", exact=exact)
        assert words in run("info", tmp_path / "model")
        assert json.loads(run("info", tmp_path / "model", "--json"))["exact"] is exact


def test_features_of_another_network_are_told(tmp_path: Path, error_of: Callable[..., str]) -> None:
    x, y = blobs(n_classes=3)
    rows = {"xtr": x, "ytr": y, "xte": x[:9], "yte": y[:9]}
    for name, made_by in (("mine", {"backbone": "one"}), ("same", {"backbone": "one"}), ("silent", {})):
        np.savez(tmp_path / f"{name}.npz", **rows, **made_by)
    np.savez(tmp_path / "other.npz", **rows, backbone="two")
    np.savez(tmp_path / "narrow.npz", **{name: one[..., :5] if one.ndim > 1 else one for name, one in rows.items()})
    np.savez(tmp_path / "odd.npz", **rows, backbone=np.arange(3))
    run("run", "--dataset", tmp_path / "mine.npz", "--method", "NCM", "--tasks", 3, "--output", tmp_path / "out")
    (model,) = (tmp_path / "out").rglob("model.anacp")
    said = f"has features of two, {model} was learned with those of one: its answers mean nothing for them"
    for command in ("predict", "evaluate"):
        assert said in run(command, model, tmp_path / "other.npz")
        for name in ("same", "silent"):
            assert "warning" not in run(command, model, tmp_path / f"{name}.npz")
        assert "got 5 in" in error_of(command, model, tmp_path / "narrow.npz")
        assert "Expected the name of a network" in error_of(command, model, tmp_path / "odd.npz")
    assert json.loads(run("evaluate", model, tmp_path / "other.npz", "--json"))["warnings"]


def test_rows_of_features_are_learned_without_a_network(
    features: str, tmp_path: Path, error_of: Callable[..., str]
) -> None:
    model = tmp_path / "rows.anacp"
    for option, value in (("--backbone", "minilm-l6"), ("--layers", "last")):
        error = error_of("learn", features, "--model", model, option, value)
        assert "Expected no --backbone and no --layers for rows of features" in error
        assert not model.exists()
    run("learn", features, "--model", model, "--learner", "NCM")
    assert load(model).classes_.tolist() == sorted({*np.load(features)["ytr"].tolist()})
