"""One run: its folder, its resuming, its record."""

import random
from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.errors import BusyError, InputError, MismatchError
from anacp.experiments import (
    Finished,
    Materials,
    ScenarioSettings,
    Specification,
    Stepped,
    accuracy_matrix,
    follow,
    load_runs,
    run,
)
from anacp.experiments.run_folder import RunFolder
from anacp.scenarios import ClassIncremental
from tests.conftest import blobs, features_dataset

THREE = ScenarioSettings(tasks=3)
SMALL = {"n_projected": 40, "n_replay": 10}


def finish(specification: Specification, folder: Path, **options: object) -> Finished:
    *steps, last = run(specification, folder, **options)
    assert all(isinstance(step, Stepped) for step in steps)
    assert isinstance(last, Finished)
    return last


def interrupt(specification: Specification, folder: Path, after: int) -> None:
    steps = run(specification, folder, checkpoint_seconds=0)
    for _ in range(after):
        next(steps)
    steps.close()


def test_class_order_is_the_papers() -> None:
    classes = [f"class {i:03}" for i in range(23)]
    shuffled = sorted(classes)
    random.Random(2).shuffle(shuffled)
    state = random.getstate()
    tasks = list(ClassIncremental(classes[::-1] * 2, n_tasks=10, seed=2))
    assert [list(task.classes) for task in tasks] == [shuffled[i::10] for i in range(10)]
    assert random.getstate() == state


def test_runner_measures_what_was_seen() -> None:
    x, y = blobs(n_classes=7, n_rows=20)
    data = features_dataset(x[:100].astype(np.float32), y[:100], x[100:].astype(np.float32), y[100:])
    model = anacp.NCM()
    steps = [judged.step for judged in follow(model, data.train, data.test, ClassIncremental(y, n_tasks=3))]
    assert [step.n_classes for step in steps] == [3, 5, 7]
    matrix = accuracy_matrix(steps)
    assert np.isnan(matrix[np.triu_indices(3, 1)]).all()
    task = list(ClassIncremental(y, n_tasks=3))[1]
    test = data.test.take(np.isin(data.test.labels, task.classes))
    assert matrix[2, 1] == pytest.approx(100 * (model.predict(test.items) == test.labels).mean())
    assert steps[-1].accuracy == pytest.approx(matrix[2].mean())
    assert steps[-1].state_bytes == sum(part.bytes for part in model.parts())


def test_a_run_leaves_its_record(features: str, tmp_path: Path) -> None:
    chosen = Specification(features, "AnaCP", SMALL, title="ours", scenario=THREE, seed=1, order_seed=4)
    result = finish(chosen, tmp_path / "run").result
    [read] = load_runs(tmp_path)
    assert (read.title, read.method, read.seed) == ("ours", "AnaCP", 1) == (result.title, result.method, result.seed)
    assert read.specification == chosen.as_dict()
    assert (read.protocol["seed"], read.protocol["order_seed"], read.protocol["order_name"]) == (4, 4, "paper")
    assert sorted(read.protocol["class_order"]) == sorted({f"class {i}" for i in range(6)})
    assert read.protocol["class_order"] == [label for step in read.steps for label in step.classes]
    assert [step.n_classes for step in read.steps] == [2, 4, 6]
    assert read.metrics["A_last"] == pytest.approx(read.class_incremental[-1].mean())
    assert read.metrics["forgetting"] == pytest.approx(
        np.mean(np.nanmax(read.class_incremental[:, :2], 0) - read.class_incremental[-1, :2])
    )
    assert read.metrics["backward_transfer"] == pytest.approx(
        np.mean([read.class_incremental[2, i] - read.class_incremental[i, i] for i in range(2)])
    )
    assert (read.task_incremental[2] >= read.class_incremental[2]).all()
    assert (read.dataset["n_train"], read.dataset["n_test"], read.dataset["n_classes"]) == (120, 60, 6)
    assert read.environment["versions"]["anacp"] == anacp.__version__
    assert read.state_bytes == sum(part["bytes"] for part in read.parts) == read.steps[-1].state_bytes
    assert read.peak_memory_bytes > 10_000_000


def test_the_model_predicts_what_was_measured(features: str, tmp_path: Path) -> None:
    """Accuracies and confusions come from the scores; the file that is left must give the same."""
    chosen = Specification(features, "AnaCP", SMALL, scenario=THREE)
    result = finish(chosen, tmp_path / "run").result
    model, test = anacp.load(tmp_path / "run" / "model.anacp"), Materials().dataset(features)[0].test
    predicted = model.predict(test.items)
    for i, step in enumerate(result.steps):
        rows = np.isin(test.labels, step.classes)
        assert result.class_incremental[-1, i] == pytest.approx(100 * np.mean(predicted[rows] == test.labels[rows]))
        masked = model.predict(test.items[rows], classes=step.classes)
        assert result.task_incremental[-1, i] == pytest.approx(100 * np.mean(masked == test.labels[rows]))
    assert sum(pair.count for pair in result.confused) == np.sum(predicted != test.labels)
    for pair in result.confused:
        assert pair.count == np.sum((test.labels == pair.true) & (predicted == pair.predicted))
        assert pair.n == np.sum(test.labels == pair.true)
    shares = [pair.count / pair.n for pair in result.confused]
    assert shares == sorted(shares, reverse=True)


def test_two_classes_have_two_scores(features: str, tmp_path: Path) -> None:
    """scikit-learn's decision function has one number a row then."""
    chosen = Specification(features, "NCM", scenario=ScenarioSettings(sizes=(2, 4)))
    result = finish(chosen, tmp_path / "run").result
    train, test = Materials().dataset(features)[0].train, Materials().dataset(features)[0].test
    first = result.steps[0].classes
    model = anacp.NCM().fit(*(part[np.isin(train.labels, first)] for part in (train.items, train.labels)))
    rows = np.isin(test.labels, first)
    assert result.steps[0].class_incremental[0] == pytest.approx(100 * model.score(test.items[rows], test.labels[rows]))


def test_a_joint_run_has_one_step_on_all_tasks(features: str, tmp_path: Path) -> None:
    whole = finish(Specification(features, "SLDA", joint=True, scenario=THREE), tmp_path / "a").result
    tasks = finish(Specification(features, "SLDA", scenario=THREE), tmp_path / "b").result
    assert len(whole.steps) == 1
    assert whole.joint
    assert whole.class_incremental.shape == (1, 3)
    np.testing.assert_allclose(whole.class_incremental[-1], tasks.class_incremental[-1])  # closed form: no difference
    assert (whole.metrics["A_avg"], whole.metrics["forgetting"]) == (None, None)
    assert "NaN" not in (tmp_path / "a" / "results.json").read_text()
    assert whole.metrics["A_last"] == pytest.approx(tasks.metrics["A_last"])


@pytest.mark.parametrize("kind", ["blurry", "online", "domain-incremental"])
def test_every_scenario_runs_and_resumes(kind: str, features: str, tmp_path: Path) -> None:
    settings = {"blurry": {"tasks": 3, "share": 0.3}, "online": {"tasks": 3, "batch_size": 7, "base": "blurry"}}
    if kind == "domain-incremental":
        draw = np.random.default_rng(0)
        np.savez(tmp_path / "domains.npz", train=draw.integers(0, 3, 120), test=draw.integers(0, 3, 60))
        settings[kind] = {"domains": str(tmp_path / "domains.npz")}
    chosen = Specification(features, "SLDA", scenario=ScenarioSettings(kind, **settings[kind]))
    interrupt(chosen, tmp_path / "run", after=1)
    resumed, whole = (finish(chosen, tmp_path / name).result for name in ("run", "whole"))
    assert len(resumed.steps) == 3
    np.testing.assert_array_equal(resumed.class_incremental, whole.class_incremental)
    assert resumed.steps[-1].n_classes == 6


def test_a_finished_run_is_read_and_an_interrupted_one_resumed(features: str, tmp_path: Path) -> None:
    chosen = Specification(features, "NCM", scenario=THREE)
    interrupt(chosen, tmp_path / "run", after=2)
    assert [path.name for path in (tmp_path / "run").glob("checkpoint*")] == ["checkpoint-00002.anacp"]
    events = list(run(chosen, tmp_path / "run"))
    assert [event.step.task for event in events[:-1]] == [2]
    assert not events[-1].reused
    [again] = run(chosen, tmp_path / "run")
    assert again.reused
    assert len(list(run(chosen, tmp_path / "run", fresh=True))) == 4


def test_a_damaged_checkpoint_costs_time_only(features: str, tmp_path: Path) -> None:
    chosen = Specification(features, "NCM", scenario=THREE)
    interrupt(chosen, tmp_path / "run", after=1)
    (tmp_path / "run" / "checkpoint-00001.anacp").write_bytes(b"torn")
    assert [event.step.task for event in list(run(chosen, tmp_path / "run"))[:-1]] == [0, 1, 2]


def test_a_changed_specification_is_refused(features: str, tmp_path: Path) -> None:
    finish(Specification(features, "AnaCP", SMALL, scenario=THREE), tmp_path / "run")
    changed = Specification(features, "AnaCP", SMALL | {"n_projected": 50}, seed=1, scenario=THREE)
    with pytest.raises(MismatchError) as refused:
        list(run(changed, tmp_path / "run"))
    assert "method.parameters.n_projected is 40 there and 50 here" in str(refused.value)
    assert "seed is 0 there and 1 here" in str(refused.value)
    assert "tasks" not in str(refused.value)
    assert not finish(changed, tmp_path / "run", restart_changed=True).reused


def test_other_data_under_the_same_name_are_noticed(features: str, tmp_path: Path) -> None:
    chosen = Specification(features, "NCM", scenario=THREE)
    finish(chosen, tmp_path / "run")
    arrays = dict(np.load(features))
    np.savez(features, **arrays | {"xtr": arrays["xtr"] + 1})
    with pytest.raises(MismatchError, match="the contents of the data set are others"):
        list(run(chosen, tmp_path / "run"))


def test_two_processes_cannot_share_a_folder(features: str, tmp_path: Path) -> None:
    chosen = Specification(features, "NCM", scenario=THREE)
    with RunFolder(tmp_path / "run").locked(), pytest.raises(BusyError, match="another process"):
        list(run(chosen, tmp_path / "run"))
    finish(chosen, tmp_path / "run")


def test_a_task_without_test_rows_is_refused(tmp_path: Path) -> None:
    x, y = blobs(n_classes=4, n_rows=10)
    np.savez(tmp_path / "blobs.npz", xtr=x, ytr=y, xte=x[y != 2], yte=y[y != 2])
    chosen = Specification(str(tmp_path / "blobs.npz"), "NCM", scenario=ScenarioSettings(tasks=4))
    with pytest.raises(InputError, match="got none for task"):
        list(run(chosen, tmp_path / "run"))


def test_pictures_of_the_stages(features: str, tmp_path: Path) -> None:
    chosen = Specification(features, "AnaCP", SMALL, embedding=True, keep_model=False, scenario=THREE)
    result = finish(chosen, tmp_path / "run").result
    assert result.model is None
    picture = result.embedding
    assert picture is not None
    assert sorted(picture["classes"]) == [f"class {i}" for i in range(6)]
    assert picture["stages"].keys() == {"input", "random", "projected"}
    n = len(picture["labels"])
    assert n == len(Materials().dataset(features)[0].test.labels)
    assert all(np.shape(points) == (n, 2) for points in picture["stages"].values())
    assert picture["settings"]["random_state"] == 0
    names = np.array(picture["classes"])[picture["labels"]]
    centres = {stage: _separation(np.array(points), names) for stage, points in picture["stages"].items()}
    assert min(centres.values()) > 1  # classes of these data are apart in every stage


def _separation(points: np.ndarray, names: np.ndarray) -> float:
    """Distance between the classes' centres over the spread within them."""
    means = np.array([points[names == name].mean(0) for name in np.unique(names)])
    within = np.mean([points[names == name].std(0).mean() for name in np.unique(names)])
    return float(means.std(0).mean() / within)


def test_a_sample_says_what_made_its_features(tmp_path: Path) -> None:
    result = finish(Specification("sample:cifar100", "NCM"), tmp_path / "run").result
    assert result.backbone is None
    assert result.made_by["name"] == "efficientnet-lite0"
    assert result.made_by["pretrained_on"] == "ImageNet-1k with labels"
