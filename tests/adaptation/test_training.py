"""Laws of adapting: it learns, it is reproducible and resumable, and it leaves the backbone alone."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

from anacp import NCM
from anacp.adaptation import RECIPES, Adaptation, Recipe, adapt, concatenated, recipe, train
from anacp.errors import InputError, MismatchError, ModelFileError, NumericalError, ParameterError, UnknownNameError
from anacp.features import FeatureStore, features_of
from tests.adaptation.models import KINDS, TINY, TINY_LORA, examples, tiny

pytest.importorskip("transformers")


# Enough where it matters only that something was trained.
SHORT = replace(TINY, epochs=1)


def run(encoder, options: Recipe = TINY, **changes):
    """All progress, and the result."""
    items, labels = examples(encoder.modality)
    steps = train(encoder, items, labels, recipe=options, **changes)
    progress = []
    while True:
        try:
            progress.append(next(steps))
        except StopIteration as end:
            return progress, end.value


def same(one: Adaptation, other: Adaptation) -> bool:
    return all(torch.equal(one.tensors[name], other.tensors[name]) for name in one.tensors)


def bytes_of(network: nn.Module) -> list[bytes]:
    return [tensor.numpy().tobytes() for tensor in network.state_dict().values()]


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_and_the_backbone_stays(tmp_path, kind: str) -> None:
    encoder = tiny(kind, tmp_path)
    items, _ = examples(encoder.modality)
    before, weights, state = encoder.encode(items), bytes_of(encoder.module()), torch.get_rng_state()
    progress, trained = run(encoder)
    assert torch.equal(torch.get_rng_state(), state)
    last_of = {step.epoch: step for step in progress}
    assert [(step.epoch, step.step) for step in progress] == [(e, s) for e in range(1, 6) for s in range(1, 7)]
    assert last_of[5].loss < 0.8 * last_of[1].loss
    assert last_of[5].accuracy > 100 / 3 + 25
    assert all(earlier.seconds <= later.seconds for earlier, later in pairwise(progress))

    adapted = trained.adaptation.apply(encoder)
    assert not any(module.training for module in adapted.module().modules())
    assert not any(parameter.requires_grad for parameter in adapted.module().parameters())
    assert set(weights) <= set(bytes_of(adapted.module()))
    assert bytes_of(encoder.module()) == weights
    np.testing.assert_array_equal(encoder.encode(items), before)
    after = adapted.encode(items)
    assert np.abs(after - before).max() > 0.05
    np.testing.assert_array_equal(adapted.encode(items), after)


@pytest.mark.parametrize("kind", KINDS)
def test_engines_agree_on_an_adapted_network(tmp_path, kind: str) -> None:
    eager, exported = tiny(kind, tmp_path), tiny(kind, tmp_path, engine="onnx")
    items, labels = examples(eager.modality)
    adaptation = adapt(eager, items, labels, recipe=SHORT)
    one, other = adaptation.apply(eager), adaptation.apply(exported)
    assert (other.engine, other.fingerprint) == ("onnx", one.fingerprint)
    np.testing.assert_allclose(other.encode(items), one.encode(items), atol=1e-3)


def test_reproducible_from_the_seed_alone(tmp_path) -> None:
    encoder = tiny("bert", tmp_path)
    _, first = run(encoder, SHORT)
    torch.rand(3)  # moves the global random state
    _, again = run(encoder, SHORT)
    assert same(first.adaptation, again.adaptation)
    np.testing.assert_array_equal(first.weight, again.weight)
    assert first.adaptation.fingerprint == again.adaptation.fingerprint
    _, other = run(encoder, SHORT, seed=1)
    assert not same(first.adaptation, other.adaptation)


def test_fingerprints_tell_apart(tmp_path) -> None:
    encoder = tiny("bert", tmp_path)
    items, labels = examples("text")
    made = [
        adapt(encoder, items, labels, recipe=SHORT),
        adapt(encoder, items, labels, recipe=SHORT, seed=1),
        adapt(encoder, items, labels, recipe=replace(SHORT, name="another name")),
        adapt(encoder, items[::-1], labels[::-1], recipe=SHORT),
        adapt(encoder, items, labels[::-1], recipe=SHORT),
    ]
    made.append(replace(made[0], tensors={name: tensor + 1e-3 for name, tensor in made[0].tensors.items()}))
    prints = {one.apply(encoder).fingerprint for one in made} | {encoder.fingerprint}
    assert len(prints) == len(made) + 1
    assert made[0].fingerprint.startswith("tiny seed 0 ")


SGD = Recipe("sgd", 0.05, 0.05, optimizer="sgd", epochs=3, batch_size=8, momentum=0.9, final_rate=0.0)


@pytest.mark.parametrize("options", [TINY, TINY_LORA, SGD], ids=lambda options: options.name)
def test_a_killed_adaptation_goes_on_to_the_same_weights(tmp_path, options: Recipe) -> None:
    encoder, options = tiny("bert", tmp_path), replace(options, epochs=3)
    items, labels = examples("text")
    _, whole = run(encoder, options)
    folder = tmp_path / "checkpoints"
    steps = train(encoder, items, labels, recipe=options, checkpoints=folder)
    for _ in range(6 * 2 + 3):  # two epochs, and half of the third
        next(steps)
    steps.close()
    progress, resumed = run(encoder, options, checkpoints=folder)
    assert (progress[0].epoch, progress[0].step) == (3, 1)
    assert same(resumed.adaptation, whole.adaptation)
    np.testing.assert_array_equal(resumed.weight, whole.weight)
    progress, finished = run(encoder, options, checkpoints=folder)
    assert progress == []
    assert same(finished.adaptation, whole.adaptation)
    other = train(encoder, items, labels, recipe=options, checkpoints=folder, seed=1)
    for _ in range(6):
        next(other)
    other.close()
    assert len(list(folder.iterdir())) == 2  # another run has a file of its own


def test_a_damaged_checkpoint_counts_as_none(tmp_path) -> None:
    encoder = tiny("bert", tmp_path)
    _, whole = run(encoder, SHORT, checkpoints=tmp_path / "checkpoints")
    (path,) = (tmp_path / "checkpoints").iterdir()
    path.write_bytes(path.read_bytes()[:200])
    progress, again = run(encoder, SHORT, checkpoints=tmp_path / "checkpoints")
    assert progress[0].epoch == 1
    assert same(again.adaptation, whole.adaptation)


def test_batch_statistics_stay_frozen(tmp_path) -> None:
    encoder = tiny("vit", tmp_path)
    network = encoder.module()
    network.layernorm = nn.Sequential(network.layernorm, nn.BatchNorm1d(5), nn.Dropout(0.5))  # 5 tokens
    encoder = encoder.with_module(network, "with batch norm and dropout")
    _, trained = run(encoder, SHORT)
    adapted = trained.adaptation.apply(encoder).module()
    assert torch.equal(adapted.layernorm[1].running_mean, torch.zeros(5))
    assert adapted.layernorm[1].num_batches_tracked == 0
    assert not any(module.training for module in adapted.modules())


def test_each_group_has_its_rate(tmp_path) -> None:
    encoder = tiny("bert", tmp_path)
    _, nothing = run(encoder, Recipe("still", 0.0, 0.0, epochs=1, batch_size=42))
    _, moved = run(encoder, Recipe("once", 1e-2, 1e-4, epochs=1, batch_size=42))
    # Adam's first step has the length of the learning rate, whatever the gradient.
    np.testing.assert_allclose(np.abs(moved.weight - nothing.weight), 1e-2, rtol=1e-2)
    for number in range(2):
        torch.testing.assert_close(
            moved.adaptation.tensors[f"{number}.up"].abs(), torch.full((24, 8), 1e-4), rtol=1e-2, atol=0
        )
        assert torch.equal(moved.adaptation.tensors[f"{number}.down"], nothing.adaptation.tensors[f"{number}.down"])


@pytest.mark.parametrize("kind", ["vit", "bert"])
def test_pieces_add_up_to_the_batch(tmp_path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    encoder = tiny(kind, tmp_path)
    _, whole = run(encoder, replace(SGD, batch_size=20))
    monkeypatch.setattr("anacp.adaptation.training.PIECE", 3)
    _, pieces = run(encoder, replace(SGD, batch_size=20))
    np.testing.assert_allclose(pieces.weight, whole.weight, atol=1e-5)
    for name, tensor in whole.adaptation.tensors.items():
        torch.testing.assert_close(pieces.adaptation.tensors[name], tensor, atol=1e-5, rtol=0)


def test_recipes_are_as_published() -> None:
    fields = ("optimizer", "epochs", "batch_size", "rank", "head_rate", "parts_rate", "weight_decay", "final_rate")
    stated = {name: tuple(getattr(record, field) for field in fields) for name, record in RECIPES.items()}
    assert stated["dinov2"] == ("adam", 10, 128, 8, 1e-3, 1e-4, 0, 1)
    assert stated["mocov3"] == ("adam", 10, 128, 8, 1e-2, 1e-3, 0, 1)
    assert stated["ranpac"] == ("sgd", 20, 48, 8, 0.01, 0.01, 5e-4, 0)
    assert RECIPES["ranpac"].momentum == 0.9
    assert all(RECIPES["dinov2"].share(epoch) == 1 for epoch in range(10))
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler, plan = CosineAnnealingLR(optimizer, 20, eta_min=0.1), replace(RECIPES["ranpac"].plan, final_rate=0.1)
    for epoch in range(20):
        assert plan.share(epoch) == pytest.approx(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()


def test_recipes_have_manners() -> None:
    assert recipe("DINOv2") is RECIPES["dinov2"]
    with pytest.raises(UnknownNameError, match="Did you mean 'mocov3'"):
        recipe("moco-v3")
    for wrong in ({"rank": 0}, {"epochs": 1.5}, {"optimizer": "lion"}, {"parts": "prompts"}, {"head_rate": -1.0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            replace(TINY, **wrong)


def test_bad_input_is_refused(tmp_path) -> None:
    encoder = tiny("bert", tmp_path)
    items, labels = examples("text")
    for wrong_items, wrong_labels, message in (
        (items, labels[:-1], "one label for each of the 42 items"),
        (items, ["same"] * len(items), "at least two classes"),
        ("a text", ["a"], "Put it into a list"),
        ([*items[:-1], 7], labels, "got int at position 41"),
    ):
        with pytest.raises(InputError, match=message):
            adapt(encoder, wrong_items, wrong_labels, recipe=TINY)
    with pytest.raises(NumericalError, match="Lower its learning rates"):
        adapt(encoder, items, labels, recipe=Recipe("wild", 1e30, 1e30, optimizer="sgd"))


def test_files(tmp_path) -> None:
    encoder = tiny("bert", tmp_path)
    items, labels = examples("text")
    adaptation = adapt(encoder, items, labels, recipe=SHORT, seed=3)
    path = tmp_path / "adaptation.safetensors"
    adaptation.save(path)
    loaded = Adaptation.load(path)
    assert (loaded.recipe, loaded.seed, loaded.fingerprint) == (SHORT, 3, adaptation.fingerprint)
    np.testing.assert_array_equal(loaded.apply(encoder).encode(items), adaptation.apply(encoder).encode(items))
    with pytest.raises(MismatchError, match="Use the backbone that was adapted"):
        loaded.apply(tiny("vit", tmp_path))
    with pytest.raises(MismatchError, match="Use the backbone that was adapted"):
        loaded.apply(loaded.apply(encoder))
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    with pytest.raises(ModelFileError, match="truncated"):
        Adaptation.load(path)
    path.write_bytes(whole.replace(b"anacp-adaptation", b"other-adaptation"))
    with pytest.raises(ModelFileError, match="of another kind"):
        Adaptation.load(path)
    path.write_bytes(whole.replace(b'"format_version":"1"', b'"format_version":"9"'))
    with pytest.raises(ModelFileError, match="Upgrade anacp"):
        Adaptation.load(path)
    with pytest.raises(FileNotFoundError, match="write one with `save`"):
        Adaptation.load(tmp_path / "none.safetensors")
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["__metadata__"]
    assert json.loads(header["recipe"])["name"] == "tiny"


@pytest.mark.parametrize("kind", ["vit", "bert"])
def test_frozen_and_adapted_features_together(tmp_path, kind: str) -> None:
    frozen = tiny(kind, tmp_path, engine="onnx")
    items, labels = examples(frozen.modality)
    adapted = adapt(frozen, items, labels, recipe=TINY).apply(frozen)
    both = concatenated(frozen, adapted)
    assert (both.n_features, both.engine) == (48, "onnx")
    assert len({one.fingerprint for one in (frozen, adapted, both)}) == 3
    x = features_of(both, items, store=FeatureStore(tmp_path / "features")).x
    np.testing.assert_allclose(x, np.hstack([frozen.encode(items), adapted.encode(items)]), atol=1e-4)
    assert NCM().fit(x, labels).score(x, labels) > 0.6  # APER
    with pytest.raises(MismatchError, match="without adaptation"):
        concatenated(frozen, frozen)
