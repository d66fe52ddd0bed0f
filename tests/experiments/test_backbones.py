"""Runs on texts: features and adaptation are shared, and the model that is left predicts texts."""

from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.backbones import backbone
from anacp.encoders import FeatureStore
from anacp.errors import InputError
from anacp.experiments import Finished, Materials, RunResult, ScenarioSettings, Specification, Working, run, sweep
from anacp.methods import Classifier
from anacp.progress import Progress
from tests.adaptation.models import WORDS, tiny

pytest.importorskip("transformers")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def texts(tmp_path: Path) -> str:
    """Sentences of six classes, told apart by a pair of words."""
    draw = np.random.default_rng(0)
    lines = ["text,label,split"]
    for number in range(180):
        code = number % 6
        filler = [WORDS[word] for word in draw.integers(3, len(WORDS), 3)]
        sentence = " ".join([WORDS[code % 3], *filler, WORDS[3 + code // 3]])
        lines.append(f"{sentence},topic {code},{'test' if number >= 120 else 'train'}")
    (tmp_path / "topics.csv").write_text("\n".join(lines))
    return str(tmp_path / "topics.csv")


@pytest.fixture
def network(tmp_path: Path) -> str:
    tiny("bert", tmp_path)
    return f"hf:{tmp_path / 'bert'}"


def finish(specification: Specification, folder: Path, **options: object) -> RunResult:
    *_, last = run(specification, folder, **options)
    assert isinstance(last, Finished)
    return last.result


def accuracy(result: RunResult, model: Classifier, texts: str) -> list[float]:
    test = Materials().dataset(texts)[0].test
    predicted = model.predict(list(test.items))
    rows = [np.isin(test.labels, step.classes) for step in result.steps]
    return [100 * float(np.mean(predicted[own] == test.labels[own])) for own in rows]


@pytest.mark.usefixtures("home")
def test_the_model_that_is_left_predicts_texts(texts: str, network: str, tmp_path: Path) -> None:
    chosen = Specification(texts, "NCM", backbone=network, scenario=ScenarioSettings(tasks=3))
    told: list[Progress] = []
    result = finish(chosen, tmp_path / "run", report=told.append)
    assert {progress.words for progress in told} == {"features of the training set", "features of the test set"}
    assert result.backbone is not None
    assert result.backbone["fingerprint"] == backbone(network).fingerprint == result.environment["backbone"]
    assert result.seconds["features"] > 0
    model = anacp.load(tmp_path / "run" / "model.anacp")
    assert isinstance(model, Classifier)
    assert accuracy(result, model, texts) == pytest.approx(result.class_incremental[-1].tolist())
    train = Materials().dataset(texts)[0].train
    assert model.is_known(list(train.items), train.labels).all()


@pytest.mark.parametrize("concatenate", [False, True])
def test_methods_of_a_seed_share_features_and_adaptation(
    concatenate: bool, texts: str, network: str, tmp_path: Path, home: Path
) -> None:
    shared = {"backbone": network, "adaptation": "mocov3", "concatenate": concatenate}
    runs = [
        Specification(texts, method, seed=seed, scenario=ScenarioSettings(tasks=3), **shared)
        for method in ("NCM", "SLDA")
        for seed in (0, 1)
    ]
    told: list[Working] = []
    results = [status.event.result for status in sweep(runs, tmp_path / "runs", report=told.append)
               if isinstance(status.event, Finished)]  # fmt: skip
    assert len(results) == 4
    assert any("epoch 10 of 10" in event.words for event in told)
    assert len(list((home / "adaptations").iterdir())) == 2  # one a seed
    # One network a seed; beside them the frozen one, which has no seed. Each encodes a sentence once.
    n_sentences = len({line.partition(",")[0] for line in Path(texts).read_text().splitlines()[1:]})
    assert [entry.n_rows for entry in FeatureStore().entries()] == [n_sentences] * (3 if concatenate else 2)
    by_seed = {seed: {r.backbone["fingerprint"] for r in results if r.seed == seed} for seed in (0, 1)}  # type: ignore[index]
    assert all(len(found) == 1 for found in by_seed.values())
    assert by_seed[0] != by_seed[1]
    assert results[0].seconds["adapt"] == results[2].seconds["adapt"] > 0  # what it cost when it was computed
    model = anacp.load(results[0].folder / "model.anacp")  # brings its adaptation along
    assert isinstance(model, Classifier)
    assert accuracy(results[0], model, texts) == pytest.approx(results[0].class_incremental[-1].tolist())
    again = Classifier.load(results[0].folder / "model.anacp", backbone=backbone(network))
    assert again.encoder.fingerprint == model.encoder.fingerprint == results[0].backbone["fingerprint"]  # type: ignore[index]


@pytest.mark.usefixtures("home")
def test_a_run_that_is_started_again_encodes_nothing_again(texts: str, network: str, tmp_path: Path) -> None:
    chosen = Specification(texts, "NCM", backbone=network, scenario=ScenarioSettings(tasks=3))
    first = finish(chosen, tmp_path / "run")
    stamps = {path: path.stat().st_mtime_ns for path in FeatureStore().root.rglob("*.safetensors")}
    again = finish(chosen, tmp_path / "run", fresh=True)
    assert stamps == {path: path.stat().st_mtime_ns for path in FeatureStore().root.rglob("*.safetensors")}
    np.testing.assert_array_equal(again.class_incremental, first.class_incremental)
    assert again.seconds["features"] == pytest.approx(first.seconds["features"], rel=0.5)  # what it cost at first


def test_data_and_backbone_must_fit(texts: str, features: str, network: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Expected features, got texts"):
        finish(Specification(texts, "NCM"), tmp_path / "run")
    with pytest.raises(InputError, match="Leave `backbone` out"):
        finish(Specification(features, "NCM", backbone=network), tmp_path / "run")


class Killed(BaseException):
    pass


def test_a_trained_method_goes_on_inside_a_task(texts: str, network: str, tmp_path: Path, monkeypatch) -> None:
    parameters, two = {"epochs": 3, "batch_size": 16}, ScenarioSettings(tasks=2)
    specification = Specification(texts, "SequentialFineTuning", parameters, backbone=network, scenario=two)
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "a"))
    whole = finish(specification, tmp_path / "whole")
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "b"))
    told: list[str] = []

    def kill(progress: Progress) -> None:
        told.append(progress.words)
        if len([known for known in told if "epoch 3" in known]) > 4:  # in the second task
            raise Killed

    with pytest.raises(Killed):
        list(run(specification, tmp_path / "killed", report=kill))
    again: list[str] = []
    result = finish(specification, tmp_path / "killed", report=lambda progress: again.append(progress.words))
    assert {words[: len("fine-tuning: epoch 3")] for words in again} == {"fine-tuning: epoch 3"}
    np.testing.assert_array_equal(result.class_incremental, whole.class_incremental)
    assert result.seconds["learn"] > 0 == result.seconds["solve"]
