"""The everyday commands, on the real networks."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import matplotlib.image
import pytest

from anacp.encoders import FeatureStore
from anacp.errors import AnacpError
from anacp.methods import Classifier
from tests.backbones.models import needs_lite0, needs_minilm
from tests.cli.conftest import anacp
from tests.methods.inputs import folder, picture, table


def facts(*arguments: object) -> dict:
    return json.loads(anacp(*arguments, "--json"))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of two colours, learned from the command line."""
    base = tmp_path_factory.mktemp("photos")
    folder(base / "first", ["blue", "red"], range(5))
    learned = facts("learn", base / "first", "--model", base / "model.anacp", "--learner", "NCM")
    assert (learned["new_examples"], learned["new_classes"], learned["classes"]) == (10, ["blue", "red"], 2)
    return base


@pytest.fixture
def stored(anacp_home: Path) -> Path:
    """Where features are kept until a model is saved, empty: other tests share it."""
    shutil.rmtree(anacp_home / "unfinished", ignore_errors=True)
    return anacp_home / "unfinished"


@pytest.fixture
def model(photos: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    path = tmp_path / "model.anacp"
    path.write_bytes((photos / "model.anacp").read_bytes())
    return path


@needs_lite0
def test_learning_again_only_adds(photos: Path, model: Path, stored: Path) -> None:
    before = model.read_bytes()
    printed = anacp("learn", photos / "first", "--model", model)
    assert printed.splitlines()[0] == "10 examples known already, 0 new"
    assert model.read_bytes() == before
    folder(model.parent / "all", ["blue", "green", "red"], range(6))
    printed = anacp("learn", model.parent / "all", "--model", model)
    assert printed.splitlines()[:2] == ["10 examples known already, 8 new", "new classes (1): green"]
    assert "18 examples of 3 classes" in printed.splitlines()[-1]
    assert list(stored.glob("*")) == []  # kept against being stopped only


@needs_lite0
def test_predict_info_and_evaluate(photos: Path, model: Path) -> None:
    shown = folder(model.parent / "shown", ["blue", "green", "red"], range(20, 23))
    lines = anacp("predict", model, shown / "blue", shown / "red" / "020.png", "--top", 2).splitlines()
    assert [line.split("\t")[1].split()[0] for line in lines] == ["blue", "blue", "blue", "red"]
    rows = json.loads(anacp("predict", model, shown / "red", "--json", "--top", 5))
    assert [row["input"] for row in rows] == [str(shown / "red" / f"{n:03d}.png") for n in range(20, 23)]
    assert [best["label"] for best in rows[0]["top"]] == ["red", "blue"]
    assert sum(best["probability"] for best in rows[0]["top"]) == pytest.approx(1, abs=1e-5)

    stated = facts("info", model)
    assert stated["backbone"]["name"] == "efficientnet-lite0"
    assert stated["classes"] == [{"label": "blue", "examples": 5}, {"label": "red", "examples": 5}]
    assert stated["bytes"] == model.stat().st_size
    assert "10 examples of 2 classes" in anacp("info", model)

    results = facts("evaluate", model, shown)
    assert (results["accuracy"], results["examples"], results["unknown_class_examples"]) == (100, 6, 3)
    assert 0 <= results["expected_calibration_error"] < 1
    picture("red", 99).save(shown / "blue" / "wrong.png")
    printed = anacp("evaluate", model, shown, "--output", model.parent / "report")
    assert "85.7 % of 7 examples of 2 classes right" in printed
    assert printed.index("blue") < printed.rindex("red ")  # the worst first
    assert "red (1)" in printed
    assert "left out: 3 examples" in printed
    assert min(matplotlib.image.imread(model.parent / "report" / "confusion.png").shape[:2]) > 300
    assert json.loads((model.parent / "report" / "results.json").read_text())["confusion"] == [[3, 1], [0, 3]]
    assert facts("evaluate", model, photos / "first")["learned_examples"] == 10


@needs_lite0
def test_forget_and_merge(photos: Path, model: Path) -> None:
    more = folder(model.parent / "more", ["green", "red"], range(5, 8))
    anacp("learn", more, "--model", model)
    anacp("learn", more, "--model", model.parent / "other.anacp", "--learner", "ncm")
    anacp("merge", photos / "model.anacp", model.parent / "other.anacp", "-o", model.parent / "merged.anacp")
    shown = [picture(label, 30) for label in ("blue", "green", "red")]
    both, merged = Classifier.load(model), Classifier.load(model.parent / "merged.anacp")
    assert merged.predict_proba(shown) == pytest.approx(both.predict_proba(shown), abs=1e-6)
    assert "6 examples forgotten" in anacp("forget", model, more)
    left, first = Classifier.load(model), Classifier.load(photos / "model.anacp")
    assert left.predict_proba(shown) == pytest.approx(first.predict_proba(shown), abs=1e-6)
    again = facts("forget", model, more, "--on-unknown", "skip")
    assert (again["forgotten_examples"], again["unknown_examples"], again["examples"]) == (0, 6, 10)
    fails("Expected examples learned before, got 6 that were not", "forget", model, more)
    fails("Delete it instead", "forget", model, photos / "first")
    fails("got 10 in both", "merge", model, model, "-o", model.parent / "x")
    fails("two or more models, got 1", "merge", model, "-o", model.parent / "x")
    assert not (model.parent / "x").exists()


@needs_lite0
def test_a_solution_is_kept_unless_told_otherwise(photos: Path, model: Path) -> None:
    more = folder(model.parent / "more", ["green"], range(5))
    shown = folder(model.parent / "shown", ["blue", "green"], range(20, 22))
    assert facts("info", model)["solved"]
    learned = facts("learn", more, "--model", model, "--no-solve")
    assert learned["solve_seconds"] == 0
    assert not facts("info", model)["solved"]
    assert "solved    no" in anacp("info", model)
    before = anacp("predict", model, shown)
    assert "solved for 3 classes" in anacp("solve", model)
    assert facts("info", model)["solved"]
    assert anacp("predict", model, shown) == before
    anacp("solve", model, "--exact")
    assert facts("info", model)["exact"]
    anacp("forget", model, more)
    anacp("merge", model, _other(model.parent), "-o", model.parent / "merged.anacp", "--no-solve")
    assert [facts("info", path)["solved"] for path in (model, model.parent / "merged.anacp")] == [True, False]


def _other(path: Path) -> Path:
    anacp("learn", folder(path / "yellow", ["yellow"], range(3)), "--model", path / "y.anacp", "--learner", "ncm")
    return path / "y.anacp"


@needs_lite0
def test_predict_may_skip_what_cannot_be_read(model: Path) -> None:
    shown = folder(model.parent / "shown", ["blue", "red"], range(20, 22))
    (shown / "blue" / "broken.png").write_bytes(b"no picture")
    fails(r"blue/broken\.png", "predict", model, shown)
    rows = json.loads(anacp("predict", model, shown, "--json", "--on-error", "skip"))
    assert [row["top"][0]["label"] if "top" in row else None for row in rows] == ["blue", "blue", None, "red", "red"]
    assert rows[2]["input"].endswith("broken.png")
    assert "broken.png" in rows[2]["error"]
    assert "skipped" in anacp("predict", model, shown, "--on-error", "skip")
    fails("can be read, got none of 1", "predict", model, shown / "blue" / "broken.png", "--on-error", "skip")


@needs_lite0
def test_two_writers_never_meet(photos: Path, model: Path) -> None:
    more = folder(model.parent / "more", ["green"], range(3))
    code = "import sys, pathlib; from anacp.files import locked\n"
    code += "with locked(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "held\n"
            before = model.read_bytes()
            fails("another process that is at it", "learn", more, "--model", model)
            fails("another process that is at it", "forget", model, photos / "first")
            fails("another process that is at it", "solve", model)
            assert model.read_bytes() == before
            anacp("predict", model, more)  # reading needs no lock
        finally:
            process.kill()
    assert facts("learn", more, "--model", model)["new_examples"] == 3  # the kernel has released a killed one's
    assert [path.name for path in model.parent.glob(".*")] == []


def fails(message: str, *arguments: object) -> None:
    """The error is one line, and exit code 2."""
    with pytest.raises(AnacpError, match=message):
        anacp(*arguments)


@needs_lite0
def test_refusals_leave_the_model_alone(photos: Path, model: Path) -> None:
    before = model.read_bytes()
    bad = folder(model.parent / "bad", ["green"], range(3))
    (bad / "green" / "broken.png").write_bytes(b"no picture")
    fails(r"green/broken\.png", "learn", bad, "--model", model)
    fails("Expected --learner NCM", "learn", bad, "--model", model, "--learner", "AnaCP")
    words = table(model.parent / "words.csv", ["money"])
    fails(r"Expected images, which .* got texts", "learn", words, "--model", model)
    if needs_minilm.args[0] is False:
        fails("Use efficientnet-lite0", "learn", bad, "--model", model, "--backbone", "minilm-l6")
    assert model.read_bytes() == before
    printed = anacp("learn", bad, "--model", model, "--on-error", "skip")
    assert "3 new, 1 skipped" in printed
    assert "broken.png" in printed


@pytest.mark.parametrize("command", [["info", "nowhere"], ["predict", "nowhere", "x"], ["learn", "x", "--model", "m"]])
def test_errors_are_one_line(command: list[str], tmp_path, monkeypatch: pytest.MonkeyPatch, error_of) -> None:
    monkeypatch.chdir(tmp_path)
    assert error_of(*command).startswith("anacp: ")


@needs_minilm
def test_texts(tmp_path) -> None:
    model = tmp_path / "texts.anacp"
    anacp("learn", table(tmp_path / "a.csv", ["greeting", "weather"]), "--model", model, "--learner", "NCM")
    anacp("learn", table(tmp_path / "b.csv", ["greeting", "money"]), "--model", model)
    stated = facts("info", model)
    assert stated["backbone"]["name"] == "minilm-l6"
    assert [entry["examples"] for entry in stated["classes"]] == [4, 4, 4]
    printed = anacp("predict", model, "--top", 1, "hello!", "-", text="pay ten euros\n\nis it raining?\n")
    answers = [line.split("\t")[1].split() for line in printed.splitlines()[:4]]
    assert [answer[0] if answer else "" for answer in answers] == ["greeting", "money", "", "weather"]
    assert facts("evaluate", model, tmp_path / "a.csv")["accuracy"] == 100


@needs_lite0
def test_a_killed_run_leaves_the_old_model_and_is_continued(model: Path, stored: Path) -> None:
    before = model.read_bytes()
    many = folder(model.parent / "many", ["green", "yellow"], range(60))
    code = "import anacp.encoders.stored as s; s.ROWS_PER_SHARD = 16; from anacp.cli.app import main; main()"
    command = [sys.executable, "-c", code, "learn", str(many), "--model", str(model)]
    with subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL) as process:
        try:
            while len([path for path in stored.rglob("*.safetensors") if path.parent.name[0] != "."]) < 2:  # whole ones
                assert process.poll() is None
                time.sleep(0.02)
        finally:
            process.kill()
    assert model.read_bytes() == before
    (entry,) = FeatureStore(next(stored.iterdir())).entries()
    assert 32 <= entry.n_rows < 120
    learned = facts("learn", many, "--model", model)
    assert (learned["new_examples"], learned["known_examples"], learned["classes"]) == (120, 0, 4)
    assert list(stored.iterdir()) == []
