"""Results on disk, read back."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.catalogue import METHODS
from anacp.errors import DataFileError, MissingDataError
from anacp.experiments import Specification, compared
from anacp.experiments.outcome import parameters_run
from anacp.experiments.results import Step, load_runs, read_run, read_steps
from anacp.paper import Cell
from tests.adaptation.models import tiny
from tests.reports.made import FOUR, SMALL, make, plain

STEPS = [
    {"task": t, "classes": [f"c{t}"], "n_classes": t + 1, "class_incremental": [90.0 - t] * (t + 1),
     "task_incremental": [100.0] * (t + 1), "seconds": {"learn": 0.1, "solve": 0.2, "predict": 0.3}, "state_bytes": 8}
    for t in range(2)
]  # fmt: skip


def written(folder: Path, **changes: object) -> Path:
    """A finished run as the first version left it: it says nothing of the paper, of quick, or of parameters."""
    matrix = [[90.0, None], [89.0, 89.0]]
    results = {
        "format": "anacp-run", "format_version": 1, "title": "Nearest", "method": "NCM", "seed": 3,
        "dataset": {"name": "sample:clinc150"}, "backbone": None, "adaptation": None, "substitute": None,
        "protocol": {"averaging": "unweighted mean over tasks"}, "joint": False,
        "metrics": {"A_last": 89.0, "A_avg": 89.5, "forgetting": 1.0},
        "accuracy": {"class_incremental": matrix, "task_incremental": [[100.0, None], [100.0, 100.0]]},
        "seconds": {"adapt": 0.0}, "state_bytes": 8, "peak_memory_bytes": 9,
        "parts": [{"name": "means", "numbers": 2, "bytes": 8}], "confused": [["c0", "c1", 2, 10]],
        "specification": {"seed": 3},
    }  # fmt: skip
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(results | changes))
    (folder / "steps.jsonl").write_text("".join(json.dumps(step) + "\n" for step in STEPS))
    return folder


def test_a_collection_is_read_in_order_and_once(tmp_path: Path) -> None:
    second, first = written(tmp_path / "b" / "deep", title="B"), written(tmp_path / "a", title="A")
    (tmp_path / "results.json").write_text('{"rows": []}')  # a table of another command
    runs = load_runs([tmp_path, first, second / "results.json"])
    assert [run.title for run in runs] == ["A", "B"]
    run = runs[0]
    assert (run.seed, run.confused[0].predicted, run.confused[0].n) == (3, "c1", 10)
    assert np.isnan(run.class_incremental[0, 1])
    assert run.class_incremental[1].tolist() == [89.0, 89.0]
    assert [step.accuracy for step in run.steps] == [90.0, 89.0]
    assert run.environment == {}
    assert (run.paper, run.quick, run.parameters) == (None, False, {})
    assert run.embedding is None
    assert run.model is None


def test_what_a_run_stands_for_and_its_parameters_are_read_back(features: str, tmp_path: Path) -> None:
    stated = Specification(
        features, "AnaCP", SMALL | {"n_heads": 1}, title="mine", scenario=FOUR, device="cpu", seed=2,
        paper=Cell("ablation", "10"), quick=True,
    )  # fmt: skip
    make(tmp_path / "runs", [stated])
    (run,) = load_runs(tmp_path / "runs")
    assert (run.paper, run.quick) == (Cell("ablation", "10"), True)
    model = anacp.load(run.folder / "model.anacp")
    assert run.parameters == {
        name: value for name, value in model.get_params().items() if name not in ("random_state", "device")
    }
    assert run.parameters["n_heads"] == 1
    assert run.parameters["targets"] == "paper"  # a default


def test_trained_methods_state_all_their_parameters(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    network = tiny("vit", tmp_path)
    for entry in [entry for entry in METHODS.values() if entry.takes == "items"]:
        stated = parameters_run(entry.new(network))
        assert {"rate", "epochs", "batch_size"} <= set(stated), entry.name
        assert not {"backbone", "seed", "checkpoints"} & set(stated)
        assert stated == json.loads(json.dumps(stated))


@pytest.mark.parametrize("torn", ['{"task": 2, "clas', '{"task": 2}\n', '{"task": 2}\n' + json.dumps(STEPS[0]) + "\n"])
def test_a_torn_line_and_what_follows_do_not_count(tmp_path: Path, torn: str) -> None:
    folder = written(tmp_path / "run")
    with (folder / "steps.jsonl").open("a") as file:
        file.write(torn)
    assert read_steps(folder) == [Step.from_dict(step) for step in STEPS]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="got nothing there"):
        load_runs(tmp_path / "nowhere")
    with pytest.raises(MissingDataError, match="got none"):
        load_runs(tmp_path)
    with pytest.raises(DataFileError, match="Upgrade anacp"):
        load_runs(written(tmp_path / "newer", format_version=2))
    with pytest.raises(DataFileError, match="damaged"):
        load_runs(written(tmp_path / "damaged", confused=[["c0"]]))
    with pytest.raises(DataFileError, match=r"damaged.*table9"):
        load_runs(written(tmp_path / "unknown", paper={"table": "table9", "row": "AnaCP"}))
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "results.json").write_text("{")
    with pytest.raises(DataFileError, match="Expected a JSON file"):
        load_runs(tmp_path / "torn")
    (tmp_path / "torn" / "results.json").write_text("{}")
    with pytest.raises(MissingDataError, match="got none"):  # of another command
        load_runs(tmp_path / "torn" / "results.json")
    with pytest.raises(DataFileError, match="another kind"):
        read_run(tmp_path / "torn")


def test_reading_needs_no_torch(tmp_path: Path) -> None:
    written(tmp_path / "run")
    code = f"import sys; from anacp.experiments import load_runs; load_runs({str(tmp_path)!r})"
    code += "; print('torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"


def test_seeds_become_one_row_with_the_times_of_the_quickest(features: str, tmp_path: Path) -> None:
    runs = make(tmp_path / "runs", [one for seed in range(3) for one in plain(features, ["SLDA"], seed=seed)])
    (row,) = compared(runs)
    last = [run.metrics["A_last"] for run in runs]
    assert (row.method, row.n_seeds) == ("SLDA", 3)
    assert (row.a_last, row.a_last_std) == (np.mean(last), np.std(last))
    quickest = runs[int(np.argmin([sum(run.seconds.values()) for run in runs]))].seconds
    assert (row.update_seconds, row.predict_seconds) == (quickest["learn"] + quickest["solve"], quickest["predict"])
