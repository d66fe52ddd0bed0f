"""Laws of every trained method: it learns, is reproducible and resumable, keeps what it promises, and saves itself."""

import numpy as np
import pytest
import torch

import anacp
from anacp.errors import (
    InputError,
    MismatchError,
    NotLearnedError,
    NumericalError,
    ParameterError,
)
from anacp.methods.trained import TRAINED, TrainedMethod, trained
from tests.adaptation.models import tiny
from tests.adaptation.test_training import bytes_of
from tests.methods.trained.models import FIRST, SECOND, accuracy, learned, make, task

pytest.importorskip("transformers")

CONTINUAL = [name for name, cls in TRAINED.items() if not cls.joint]
PROMPTS = ["L2P", "DualPrompt", "CODAPrompt"]


def same(one: TrainedMethod, other: TrainedMethod) -> bool:
    return one._state.keys() == other._state.keys() and all(
        torch.equal(tensor, other._state[name]) for name, tensor in one._state.items()
    )


@pytest.mark.parametrize("name", TRAINED)
def test_it_learns_and_the_backbone_stays(encoder, name: str) -> None:
    weights, state = bytes_of(encoder.module()), torch.get_rng_state()
    model = make(name, encoder)
    told: list[tuple[float, str]] = []
    model.learn(*task(FIRST), progress=lambda share, words: told.append((share, words)))
    losses = [float(words.split("loss ")[1].split(",")[0]) for _, words in told]
    assert losses[-1] < 0.8 * losses[5]  # last step of the last epoch against that of the first
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert accuracy(model, task(FIRST)) > 1 / 3 + 0.3
    assert accuracy(model, task(FIRST, seed=1)) > 1 / 3 + 0.25
    assert bytes_of(encoder.module()) == weights
    assert torch.equal(torch.get_rng_state(), state)

    items, _ = task(FIRST, seed=1)
    scores = model.scores(items)
    assert model.classes_.tolist() == ["blue", "green", "red"]
    assert scores.shape == (len(items), 3)
    np.testing.assert_array_equal(model.classes_[scores.argmax(1)], model.predict(items))
    np.testing.assert_array_equal(model.scores(items), scores)
    assert model.scores([]).shape == (0, 3)
    assert sum(part.numbers for part in model.parts()) == sum(one.numel() for one in model._state.values())


@pytest.mark.parametrize("name", TRAINED)
def test_reproducible_from_the_seed_alone(encoder, name: str) -> None:
    n_tasks = 1 if TRAINED[name].joint else 2
    first = learned(name, encoder, n_tasks, epochs=2)
    torch.rand(3)  # moves the global random state
    assert same(learned(name, encoder, n_tasks, epochs=2), first)
    assert not same(learned(name, encoder, n_tasks, epochs=2, seed=1), first)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("name", TRAINED)
def test_a_killed_task_goes_on_to_the_same_weights(encoder, tmp_path, name: str) -> None:
    joint, path, folder = TRAINED[name].joint, tmp_path / "model.anacp", tmp_path / "checkpoints"
    whole = learned(name, encoder, 1 if joint else 2)
    model = make(name, encoder, checkpoints=folder)
    if not joint:
        model.learn(*task(FIRST))
        model.save(path)
    before = {key: tensor.clone() for key, tensor in model._state.items()}

    def kill(share: float, words: str) -> None:
        if share > 0.7:
            raise Killed

    last = task(FIRST if joint else SECOND)
    with pytest.raises(Killed):
        model.learn(*last, progress=kill)
    assert model._state.keys() == before.keys()
    assert all(torch.equal(model._state[key], tensor) for key, tensor in before.items())
    again = make(name, encoder, checkpoints=folder)
    if not joint:
        again = trained(name).load(path, backbone=encoder, checkpoints=folder)
    shares: list[float] = []
    again.learn(*last, progress=lambda share, words: shares.append(share))
    assert shares[0] > 0.4
    assert same(again, whole)
    assert again.seconds_before > 0 == whole.seconds_before  # what the kill did not undo counts
    assert len(list(folder.iterdir())) <= 3  # what the first task left is gone, except for a model that never knew it


def test_spent_checkpoints_are_removed(encoder, tmp_path) -> None:
    model = make("DualPrompt", encoder, checkpoints=tmp_path, epochs=1)
    kept = []
    for labels in (FIRST, SECOND):
        model.learn(*task(labels))
        kept.append({path.name for path in tmp_path.iterdir()})
    assert [len(names) for names in kept] == [1, 1]
    assert not kept[0] & kept[1]


@pytest.mark.parametrize("name", TRAINED)
def test_files(encoder, tmp_path, name: str) -> None:
    model, path = learned(name, encoder, epochs=2, seed=3), tmp_path / "model.anacp"
    model.save(path)
    loaded = TrainedMethod.load(path, backbone=encoder)
    assert type(loaded) is TRAINED[name]
    assert loaded._parameters() == model._parameters()
    items, _ = task(FIRST, seed=1)
    np.testing.assert_array_equal(loaded.scores(items), model.scores(items))
    by_name = anacp.load(path)  # which may run the frozen network on another engine
    np.testing.assert_allclose(by_name.scores(items), model.scores(items), atol=1e-3)
    if not model.joint:
        for one in (model, loaded):
            one.learn(*task(SECOND))
        assert same(model, loaded)
        np.testing.assert_array_equal(loaded.classes_, sorted([*FIRST, *SECOND]))
    other = TRAINED["L2P" if name != "L2P" else "SLCA"]
    with pytest.raises(MismatchError, match=f"got {name}"):
        other.load(path, backbone=encoder)
    with pytest.raises(MismatchError, match="Expected the backbone"):
        TrainedMethod.load(path, backbone=tiny("vit", tmp_path))


@pytest.mark.parametrize("name", CONTINUAL)
def test_what_a_later_task_may_change(encoder, name: str) -> None:
    model = learned(name, encoder, epochs=2)
    before = dict(model._state)
    model.learn(*task(SECOND))
    after = model._state
    old_head = all(torch.equal(after[key][:3], before[key]) for key in ("head.weight", "head.bias"))
    assert old_head == (name in PROMPTS)  # the rest trains or aligns the whole head
    changed = {
        key
        for key in before.keys() - {"head.weight", "head.bias"}
        if not torch.equal(after[key][: len(before[key])], before[key])
    }
    if name == "L2P":
        assert changed == {"prompts.pool", "keys.pool"}
    elif name == "DualPrompt":
        assert changed == {"prompts.general"}
        assert after.keys() - before.keys() == {"prompts.expert 1", "keys.expert 1"}
    elif name == "CODAPrompt":
        assert changed == set()
        assert len(after) == 2 * len(before) - 2  # all but the head
    else:
        assert {key.partition(".")[0] for key in changed} == {"network"}  # means and covariances stay
    if name in PROMPTS:
        assert bytes_of(model._network.pooled.network) == bytes_of(encoder.module())
        assert not any(parameter.requires_grad for parameter in model._network.parameters())


@pytest.mark.parametrize("name", CONTINUAL)
def test_earlier_tasks_are_retained_as_promised(encoder, name: str) -> None:
    model = learned(name, encoder)
    (items, labels), new = task(FIRST), task(SECOND)
    best = accuracy(model, (items, labels))
    model.learn(*new)
    among_all = accuracy(model, (items, labels))
    own = np.flatnonzero(np.isin(model.classes_, FIRST))
    among_own = float((model.classes_[own][model.scores(items)[:, own].argmax(1)] == labels).mean())
    assert accuracy(model, new) > 1 / 6 + 0.15
    if name == "SequentialFineTuning":
        assert among_all < 0.1  # trained over the logits of all classes, without the examples of earlier ones
    else:
        assert among_all > 0.3
        assert among_own > 0.7 * best


@pytest.mark.parametrize("name", ["L2P", "DualPrompt", "CODAPrompt", "JointFineTuning"])
@pytest.mark.parametrize("kind", ["vit", "dinov2"])
def test_pictures(tmp_path, name: str, kind: str) -> None:
    model = make(name, tiny(kind, tmp_path), epochs=4)
    model.learn(*task(FIRST, "image"))
    assert accuracy(model, task(FIRST, "image")) > 1 / 3 + 0.2


def test_bad_input_changes_nothing(encoder) -> None:
    items, labels = task(FIRST)
    model = make("L2P", encoder, epochs=1)
    with pytest.raises(NotLearnedError, match="Call `learn` first"):
        model.scores(items)
    model.learn(items, labels)
    before = model._state
    for wrong_items, wrong_labels, message in (
        (items, labels[:-1], "one label for each of the 48 items"),
        (items, ["same"] * 48, "at least two classes"),
        ("a text", ["a"], "Put it into a list"),
        ([*items[:-1], 7], labels, "got int at position 47"),
        (items, np.arange(48) % 2, "of the kind learned before, text, got number"),
    ):
        with pytest.raises(InputError, match=message):
            model.learn(wrong_items, wrong_labels)
        assert model._state is before
    wild = make("SequentialFineTuning", encoder, rate=1e30, head_rate=1e30)
    with pytest.raises(NumericalError, match="Lower its learning rates"):
        wild.learn(items, labels)
    joint = learned("JointLinearProbe", encoder, epochs=1)
    with pytest.raises(InputError, match="Expected all tasks at once"):
        joint.learn(*task(SECOND))
    with pytest.raises(ParameterError, match="more than 4 blocks, got 2"):
        trained("DualPrompt")(encoder).learn(items, labels)
    for name, wrong in (("L2P", {"n_chosen": 9}), ("CODAPrompt", {"length": 5}), ("SLCA", {"epochs": 0})):
        with pytest.raises(ParameterError):
            make(name, encoder, **wrong)


def test_a_class_may_come_again(encoder) -> None:
    model = learned("SequentialFineTuning", encoder, epochs=1)
    items, labels = task(("red", "house"))
    model.learn(items, labels)
    assert model.classes_.tolist() == ["blue", "green", "house", "red"]
    assert model._task_of.tolist() == [0, 0, 0, 1]
