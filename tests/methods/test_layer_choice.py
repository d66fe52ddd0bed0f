"""Layers chosen by the first examples: by log-loss, for good, and with the features of the layers that were chosen."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

import anacp
from anacp.backbones import Backbone
from anacp.encoders import Encoder, FeatureStore, LayerChoice
from anacp.errors import MismatchError, ParameterError
from anacp.exports import TOLERANCE, export
from anacp.learners import AnaCP
from anacp.methods import choosing_layers
from tests.adaptation.models import examples
from tests.exports.test_export import answers

pytest.importorskip("transformers")

NARROW = {"n_projected": 100, "n_heads": 1, "ridge": 0.1, "classifier_ridge": 0.1}


@pytest.fixture
def frozen(transformer) -> Backbone:
    return transformer("vit")


def taught(frozen: Backbone, n: int, **options) -> anacp.Classifier:
    classifier = anacp.Classifier(frozen, AnaCP(**NARROW), layers="auto", **options)
    classifier.learn(*examples("image", n))
    return classifier


def test_what_is_chosen_is_as_if_it_had_been_stated(frozen, tmp_path: Path) -> None:
    items, labels = examples("image", 120)
    chosen = anacp.Classifier(frozen, AnaCP(**NARROW), layers="auto", store=FeatureStore(tmp_path / "store"))
    learned = chosen.learn(items, labels)
    layers = chosen.encoder.origin.layers
    stated = anacp.Classifier(frozen, AnaCP(**NARROW), layers=layers)
    stated.learn(items, labels)
    assert chosen.encoder.fingerprint == stated.encoder.fingerprint
    np.testing.assert_array_equal(chosen.predict_proba(items), stated.predict_proba(items))
    choice = chosen.encoder.choice
    assert choice.tried == frozen.choices
    assert choice.n_examples == 120
    assert layers in choice.tried
    assert learned.layer_choice.startswith(f"layers {', '.join(map(str, layers))}")
    assert chosen.learn(*examples("image", 130)).layer_choice is None  # for good

    chosen.save(tmp_path / "model.anacp")
    again = anacp.load(tmp_path / "model.anacp", backbone=frozen)
    assert again.encoder.choice == choice
    np.testing.assert_allclose(again.predict_proba(items), chosen.predict_proba(items), atol=1e-6)
    again.forget(items[:60], labels[:60])
    assert again.learn(items[:60], labels[:60]).n_new == 60
    assert (again + anacp.Classifier(frozen, AnaCP(**NARROW), layers=layers)).n_examples == again.n_examples


def test_neither_order_nor_place_decides(frozen) -> None:
    items, labels = examples("image", 120)
    order = np.random.default_rng(0).permutation(120)
    one = anacp.Classifier(frozen, "NCM", layers="auto")
    other = anacp.Classifier(frozen, "NCM", layers="auto")
    one.learn(items, labels)
    other.learn([items[place] for place in order], labels[order])
    assert one.encoder.choice == other.encoder.choice
    assert one.encoder.fingerprint == other.encoder.fingerprint


@pytest.mark.parametrize(("kind", "expected"), [("vit", (-1,)), ("bert", (-2, -1))])
def test_few_examples_follow_a_rule(transformer, kind: str, expected: tuple) -> None:
    frozen = transformer(kind)
    items, labels = examples(frozen.modality, 12)
    for several in (labels, np.full(12, "one")):
        classifier = anacp.Classifier(frozen, "NCM", layers="auto")
        assert classifier.learn([], []).n_new == 0
        assert classifier.encoder.undecided  # nothing was learned: nothing is chosen
        assert "by rule: 12 examples cannot tell" in classifier.learn(items, several).layer_choice
        assert classifier.encoder.origin.layers == expected


def test_the_log_loss_is_that_of_the_best_sharpness() -> None:
    generator = np.random.default_rng(0)
    truth = torch.from_numpy(generator.integers(0, 5, 300))
    scores = torch.eye(5, dtype=torch.float64)[truth] + torch.from_numpy(generator.normal(size=(300, 5)))
    losses = [
        float(torch.nn.functional.cross_entropy(float(beta) * scores, truth)) for beta in np.geomspace(0.01, 100, 2000)
    ]
    assert 0 < losses.index(min(losses)) < 1999
    assert choosing_layers._log_loss(scores, truth) == pytest.approx(min(losses), abs=1e-5)
    assert choosing_layers._log_loss(-scores, truth) == pytest.approx(np.log(5), abs=1e-2)  # no sharpness helps


def test_an_example_is_judged_by_all_others() -> None:
    generator = np.random.default_rng(0)
    classes = np.arange(40) % 4
    x = (generator.normal(size=(4, 6))[classes] + 1.5 * generator.normal(size=(40, 6))).astype(np.float32)
    rows = torch.nn.functional.normalize(torch.from_numpy(x).double())
    cosine = (rows @ rows.mT).clamp(-1, 1)
    kernel = (cosine.acos().sin() + (torch.pi - cosine.acos()) * cosine) / (2 * torch.pi)
    targets = torch.eye(4, dtype=torch.float64)[classes]
    expected = []
    for left in range(40):
        others = [row for row in range(40) if row != left]
        inner = kernel[others][:, others] + choosing_layers.RIDGE * torch.eye(39, dtype=torch.float64)
        expected.append(kernel[left, others] @ torch.linalg.solve(inner, targets[others]))
    found = choosing_layers._left_out(x, classes)
    torch.testing.assert_close(found, torch.stack(expected))


def test_useful_layers_are_found(frozen) -> None:
    """The layer before the last one tells what the last one does not."""
    widths = frozen.layer_widths
    encoder = Encoder(frozen, layers="auto")
    generator = np.random.default_rng(0)
    labels = np.arange(300) % 3
    x = generator.normal(size=(300, sum(widths.values()))).astype(np.float32)
    telling = x[:, : widths[-2]]  # computed are -2, -1 and patches
    telling += 3 * generator.normal(size=(3, widths[-2])).astype(np.float32)[labels]
    digests = [bytes([number // 256, number % 256]) * 8 for number in range(300)]
    chosen = choosing_layers.chosen_layers(encoder, x, labels, digests)
    assert chosen.origin.layers == (-2, -1, "patches")
    mistakes, losses = chosen.choice.mistakes, chosen.choice.losses
    assert mistakes[2] < min(mistakes[:2]) / 2
    assert losses[2] == min(losses)


def test_threads_choose_once(frozen) -> None:
    items, labels = examples("image", 120)
    classifier = anacp.Classifier(frozen, "NCM", layers="auto")
    parts = [slice(start, start + 30) for start in range(0, 120, 30)]
    threads = [threading.Thread(target=classifier.learn, args=(items[part], labels[part])) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert classifier.n_examples == 120
    stated = anacp.Classifier(frozen, "NCM", layers=classifier.encoder.origin.layers)
    stated.learn(items, labels)
    np.testing.assert_allclose(classifier.predict_proba(items), stated.predict_proba(items), atol=1e-6)


def test_models_of_other_layers_do_not_merge(frozen) -> None:
    items, labels = examples("image", 40)
    one, other = anacp.Classifier(frozen, "NCM", layers=[-2, -1]), anacp.Classifier(frozen, "NCM", layers="last")
    one.learn(items[:20], labels[:20])
    other.learn(items[20:], labels[20:])
    with pytest.raises(MismatchError, match=r"layers -2, -1.*teach both with the same layers"):
        one + other
    with pytest.raises(ParameterError, match="states its own"):
        anacp.Classifier(Encoder(frozen), layers="auto")


@pytest.mark.parametrize("kind", ["vit", "bert"])
def test_an_export_has_the_layers(transformer, kind: str, tmp_path: Path) -> None:
    frozen = transformer(kind)
    items, labels = examples(frozen.modality, 42)
    layers = [-2, -1, *(["patches"] if kind == "vit" else [])]
    classifier = anacp.Classifier(frozen, AnaCP(**NARROW), layers=layers)
    classifier.learn(items, labels)
    written = export(classifier, tmp_path / "model.onnx", with_backbone=True, exact=True)
    probabilities = answers(written.path, **frozen.reader.read(items))[1]
    np.testing.assert_allclose(probabilities, classifier.predict_proba(items), atol=TOLERANCE / 10)


def test_a_choice_survives_json_and_says_why() -> None:
    choice = LayerChoice(((-1,), (-3, -2, -1, "patches")), (50, 20), 200)
    assert LayerChoice.restored(json.loads(json.dumps(choice.header()))) == choice
    words = choice.words((-3, -2, -1, "patches"))
    assert words == (
        "layers -3 … -1 and patches, chosen by mistakes on 200 left-out examples: -1: 25.0 %, "
        "-3 … -1 and patches: 10.0 %"
    )
    by_loss = LayerChoice(choice.tried, choice.mistakes, 200, (0.61, 0.4))
    assert LayerChoice.restored(json.loads(json.dumps(by_loss.header()))) == by_loss
    assert by_loss.words((-1,)) == (
        "layers -1, chosen by log-loss (and mistakes) on 200 left-out examples: -1: 0.610 (25.0 %), "
        "-3 … -1 and patches: 0.400 (10.0 %)"
    )
