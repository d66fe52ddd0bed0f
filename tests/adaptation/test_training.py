"""Laws of adapting: it learns, it is reproducible and resumable, and it leaves the backbone alone."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from anacp.adaptation import RECIPES, Adaptation, Recipe, adapt, data_identity, finished, train
from anacp.errors import InputError, MismatchError, ModelFileError, NumericalError, ParameterError, UnknownNameError
from tests.adaptation.models import KINDS, TINY, TINY_LORA, bytes_of, examples

pytest.importorskip("transformers")

# Enough where it matters only that something was trained.
SHORT = replace(TINY, epochs=1)
SGD = Recipe("sgd", 0.05, 0.05, optimizer="sgd", epochs=3, batch_size=8, momentum=0.9, final_rate=0.0)


def run(encoder, options: Recipe = TINY, n: int = 42, **changes):
    """All steps, and the result."""
    training, steps = train(encoder, *examples(encoder.modality, n), recipe=options, **changes), []
    while True:
        try:
            steps.append(next(training))
        except StopIteration as end:
            return steps, end.value


def same(one: Adaptation, other: Adaptation) -> bool:
    return all(torch.equal(one.tensors[name], other.tensors[name]) for name in one.tensors)


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_and_the_backbone_stays(transformer, kind: str) -> None:
    encoder = transformer(kind)
    items, _ = examples(encoder.modality)
    before, weights, state = encoder.encode(items), bytes_of(encoder.module()), torch.get_rng_state()
    steps, trained = run(encoder)
    assert torch.equal(torch.get_rng_state(), state)
    last_of = {step.epoch: step for step in steps}
    assert [(step.epoch, step.step) for step in steps] == [(e, s) for e in range(1, 6) for s in range(1, 7)]
    assert last_of[5].loss < 0.8 * last_of[1].loss
    assert last_of[5].accuracy > 100 / 3 + 25
    assert all(one.seconds <= other.seconds and one.share < other.share for one, other in pairwise(steps))
    assert (steps[-1].share, steps[-1].seconds) == (1, trained.seconds)

    adapted = trained.adaptation.apply(encoder)
    assert not any(module.training for module in adapted.module().modules())
    assert not any(parameter.requires_grad for parameter in adapted.module().parameters())
    assert set(weights) <= set(bytes_of(adapted.module()))
    assert bytes_of(encoder.module()) == weights
    np.testing.assert_array_equal(encoder.encode(items), before)
    after = adapted.encode(items)
    assert np.abs(after - before).max() > 0.05
    np.testing.assert_array_equal(adapted.encode(items), after)


@pytest.mark.parametrize("kind", ["vit", "bert"])  # the two ways in which adapters are inserted
def test_engines_agree_on_an_adapted_network(transformer, kind: str) -> None:
    eager, exported = transformer(kind), transformer(kind, engine="onnx")
    items, labels = examples(eager.modality)
    adaptation = adapt(eager, items, labels, recipe=SHORT)
    one, other = adaptation.apply(eager), adaptation.apply(exported)
    assert (other.engine, other.fingerprint) == ("onnx", one.fingerprint)
    np.testing.assert_allclose(other.encode(items), one.encode(items), atol=1e-3)


def test_whoever_wants_to_know_is_told(transformer) -> None:
    told = []
    trained = adapt(transformer("bert"), *examples("text"), recipe=SHORT, report=told.append)
    assert [round(6 * progress.share, 9) for progress in told] == [1, 2, 3, 4, 5, 6]
    assert told[-1].words.startswith("adapting the backbone: epoch 1 of 1, loss ")
    steps = train(transformer("bert"), *examples("text"), recipe=SHORT)
    assert same(finished(steps).adaptation, trained)


def test_reproducible_from_the_seed_alone(transformer) -> None:
    encoder = transformer("bert")
    _, first = run(encoder, SHORT)
    torch.rand(3)  # moves the global random state
    _, again = run(encoder, SHORT)
    assert same(first.adaptation, again.adaptation)
    np.testing.assert_array_equal(first.weight, again.weight)
    assert first.adaptation.fingerprint == again.adaptation.fingerprint
    _, other = run(encoder, SHORT, seed=1)
    assert not same(first.adaptation, other.adaptation)


def test_fingerprints_tell_apart(transformer) -> None:
    encoder, (items, labels) = transformer("bert"), examples("text", 16)
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


def test_data_are_known_by_their_content(transformer, tmp_path) -> None:
    encoder, (pictures, labels) = transformer("vit"), examples("image", 3)
    here, there = tmp_path / "here.png", tmp_path / "elsewhere" / "other.png"
    pictures[0].save(here)
    there.parent.mkdir()
    shutil.copy(here, there)
    known = data_identity(encoder, [here, *pictures[1:]], labels)
    assert data_identity(encoder, [str(there), *pictures[1:]], labels) == known
    pictures[1].save(there)
    others = [([there, *pictures[1:]], labels), ([here, pictures[2], pictures[1]], labels)]
    others.append(([here, *pictures[1:]], np.roll(labels, 1)))
    assert len({data_identity(encoder, *one) for one in others} | {known}) == 4


@pytest.mark.parametrize("options", [TINY, TINY_LORA, SGD], ids=lambda options: options.name)
def test_a_killed_adaptation_goes_on_to_the_same_weights(transformer, tmp_path, options: Recipe) -> None:
    encoder, options = transformer("bert"), replace(options, epochs=3)
    items, labels = examples("text", 24)
    _, whole = run(encoder, options, 24)
    steps = train(encoder, items, labels, recipe=options, checkpoints=tmp_path)
    for _ in range(3 * 2 + 1):  # two epochs, and a step of the third
        next(steps)
    steps.close()
    steps, resumed = run(encoder, options, 24, checkpoints=tmp_path)
    assert (steps[0].epoch, steps[0].step) == (3, 1)
    assert same(resumed.adaptation, whole.adaptation)
    np.testing.assert_array_equal(resumed.weight, whole.weight)
    steps, found = run(encoder, options, 24, checkpoints=tmp_path)
    assert steps == []
    assert same(found.adaptation, whole.adaptation)
    assert found.seconds == resumed.seconds > 0  # what it cost in all, not what finding it did
    run(encoder, replace(options, epochs=1), 24, checkpoints=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2  # another run has a file of its own


def test_a_damaged_checkpoint_counts_as_none(transformer, tmp_path) -> None:
    _, whole = run(transformer("bert"), SHORT, 16, checkpoints=tmp_path)
    (path,) = tmp_path.iterdir()
    good = path.read_bytes()
    for damaged in (good[:200], good[:-1] + bytes([good[-1] ^ 1]), good.replace(b"anacp-check", b"other-check"), b""):
        path.write_bytes(damaged)
        steps, again = run(transformer("bert"), SHORT, 16, checkpoints=tmp_path)
        assert steps[0].epoch == 1
        assert same(again.adaptation, whole.adaptation)


def test_batch_statistics_stay_frozen(transformer) -> None:
    encoder = transformer("vit")
    network = encoder.module()
    network.layernorm = nn.Sequential(network.layernorm, nn.BatchNorm1d(5), nn.Dropout(0.5))  # 5 tokens
    encoder = encoder.with_module(network, "with batch norm and dropout")
    _, trained = run(encoder, SHORT, 16)
    adapted = trained.adaptation.apply(encoder).module()
    assert torch.equal(adapted.layernorm[1].running_mean, torch.zeros(5))
    assert adapted.layernorm[1].num_batches_tracked == 0
    assert not any(module.training for module in adapted.modules())


def test_each_group_has_its_rate(transformer) -> None:
    encoder = transformer("bert")
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
def test_pieces_add_up_to_the_batch(transformer, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    _, whole = run(transformer(kind), replace(SGD, batch_size=20))
    monkeypatch.setattr("anacp.adaptation.examples.PIECE", 3)
    _, pieces = run(transformer(kind), replace(SGD, batch_size=20))
    np.testing.assert_allclose(pieces.weight, whole.weight, atol=1e-5)
    for name, tensor in whole.adaptation.tensors.items():
        torch.testing.assert_close(pieces.adaptation.tensors[name], tensor, atol=1e-5, rtol=0)


def test_recipes_have_manners() -> None:
    assert RECIPES.find("DINOv2") is RECIPES["dinov2"]
    with pytest.raises(UnknownNameError, match="Did you mean 'mocov3'"):
        RECIPES.find("moco-v4")
    for wrong in ({"rank": 0}, {"epochs": 1.5}, {"optimizer": "lion"}, {"parts": "prompts"}, {"head_rate": -1.0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            replace(TINY, **wrong)


def test_bad_input_is_refused(transformer) -> None:
    encoder, (items, labels) = transformer("bert"), examples("text")
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


def test_files(transformer, tmp_path) -> None:
    encoder, (items, labels) = transformer("bert"), examples("text", 16)
    adaptation = adapt(encoder, items, labels, recipe=SHORT, seed=3)
    path = tmp_path / "adaptation.safetensors"
    adaptation.save(path)
    loaded = Adaptation.load(path)
    assert (loaded.recipe, loaded.seed, loaded.fingerprint) == (SHORT, 3, adaptation.fingerprint)
    np.testing.assert_array_equal(loaded.apply(encoder).encode(items), adaptation.apply(encoder).encode(items))
    for other in (transformer("vit"), loaded.apply(encoder)):
        with pytest.raises(MismatchError, match="Use the backbone that was adapted"):
            loaded.apply(other)
    whole = path.read_bytes()
    for damaged, message in (
        (whole[:-10], "truncated"),
        (whole.replace(b"anacp-adaptation", b"other-adaptation"), "of another kind"),
        (whole.replace(b'"format_version":"2"', b'"format_version":"9"'), "Upgrade anacp"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=message):
            Adaptation.load(path)
    with pytest.raises(FileNotFoundError, match="write one with `save`"):
        Adaptation.load(tmp_path / "none.safetensors")
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["__metadata__"]
    assert json.loads(header["recipe"])["name"] == "tiny"
