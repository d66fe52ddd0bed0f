"""Laws of every trained method: it learns, is reproducible and resumable, keeps what it promises, and saves itself."""

import numpy as np
import pytest
import torch

from anacp.catalogue import METHODS
from anacp.errors import InputError, MismatchError, NotLearnedError, NumericalError, ParameterError
from anacp.files import TensorFile
from anacp.learners import MODEL
from anacp.methods.trained import DualPrompt, TrainedMethod
from anacp.progress import Progress
from tests.adaptation.models import bytes_of
from tests.methods.trained.models import CONTINUAL, FIRST, SECOND, TRAINED, accuracy, make, task

pytest.importorskip("transformers")

PROMPTS = ["L2P", "DualPrompt", "CODAPrompt"]


def same(one: TrainedMethod, other: TrainedMethod) -> bool:
    return one._state.keys() == other._state.keys() and all(
        torch.equal(tensor, other._state[name]) for name, tensor in one._state.items()
    )


@pytest.mark.parametrize("name", TRAINED)
def test_it_learns_and_the_backbone_stays(encoder, name: str) -> None:
    weights, state = bytes_of(encoder.module()), torch.get_rng_state()
    model, told = make(name, encoder), []
    model.learn(*task(FIRST), report=told.append)
    losses = [float(progress.words.split("loss ")[1].split(",")[0]) for progress in told]
    assert losses[-1] < 0.8 * losses[5]  # last step of the last epoch against that of the first
    shares = [progress.share for progress in told]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert accuracy(model, task(FIRST)) > 1 / 3 + 0.3
    assert accuracy(model, task(FIRST, seed=1)) > 1 / 3 + 0.25
    assert bytes_of(encoder.module()) == weights
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("name", TRAINED)
def test_what_it_says_of_examples_and_of_itself(encoder, taught, name: str) -> None:
    model, (items, _) = taught(name), task(FIRST, n=12, seed=1)
    scores = model.scores(items)
    assert model.classes_.tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(model.classes_[scores.argmax(1)], model.predict(items))
    np.testing.assert_array_equal(model.scores(items), scores)
    exponentials = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(items), exponentials / exponentials.sum(1, keepdims=True), 1e-5)
    assert model.scores([]).shape == model.predict_proba([]).shape == (0, 3)
    assert sum(part.numbers for part in model.parts()) == sum(one.numel() for one in model._state.values())
    assert (model.modality, model.origin.fingerprint) == ("text", encoder.fingerprint)


@pytest.mark.parametrize("name", TRAINED)
def test_reproducible_from_the_seed_alone(encoder, name: str) -> None:
    def learned(seed: int) -> TrainedMethod:
        model = make(name, encoder, epochs=1, seed=seed)
        for labels in (FIRST, SECOND) if name in CONTINUAL else (FIRST,):
            model.learn(*task(labels, n=16))
        return model

    first = learned(seed=0)
    torch.rand(3)  # moves the global random state
    assert same(learned(seed=0), first)
    assert not same(learned(seed=1), first)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("name", TRAINED)
def test_a_killed_task_goes_on_to_the_same_weights(encoder, taught, tmp_path, name: str) -> None:
    path, folder = tmp_path / "model.anacp", tmp_path / "checkpoints"
    whole = taught(name, 2 if name in CONTINUAL else 1)
    model = taught(name) if name in CONTINUAL else make(name, encoder)
    model.save(path)
    model.checkpoints, before = folder, {key: tensor.clone() for key, tensor in model._state.items()}

    def kill(progress: Progress) -> None:
        if progress.share > 0.7:
            raise Killed

    last = task(SECOND if name in CONTINUAL else FIRST)
    with pytest.raises(Killed):
        model.learn(*last, report=kill)
    assert model._state.keys() == before.keys()
    assert all(torch.equal(model._state[key], tensor) for key, tensor in before.items())
    again, told = TrainedMethod.load(path, backbone=encoder, checkpoints=folder), []
    again.learn(*last, report=told.append)
    assert told[0].share > 0.4
    assert same(again, whole)
    assert again.seconds_before > 0 == whole.seconds_before  # what the kill did not undo counts
    assert len(list(folder.iterdir())) == (2 if name == "SLCA" else 1)  # one a stage


def test_spent_checkpoints_are_removed(encoder, tmp_path) -> None:
    model = make("DualPrompt", encoder, checkpoints=tmp_path, epochs=1)
    kept = []
    for labels in (FIRST, SECOND):
        model.learn(*task(labels))
        kept.append({path.name for path in tmp_path.iterdir()})
    assert [len(names) for names in kept] == [1, 1]
    assert not kept[0] & kept[1]


@pytest.mark.parametrize("name", TRAINED)
def test_files(encoder, taught, transformer, tmp_path, name: str) -> None:
    model, path = taught(name), tmp_path / "model.anacp"
    model.save(path)
    loaded = TrainedMethod.load(path, backbone=encoder)
    assert type(loaded) is type(model)
    assert loaded._parameters() == model._parameters()
    items, _ = task(FIRST, seed=1)
    np.testing.assert_array_equal(loaded.scores(items), model.scores(items))
    if name in CONTINUAL:
        loaded.learn(*task(SECOND))
        assert same(loaded, taught(name, 2))
        np.testing.assert_array_equal(loaded.classes_, sorted([*FIRST, *SECOND]))
    with pytest.raises(MismatchError, match=f"got {name}"):
        METHODS["L2P" if name != "L2P" else "SLCA"].make.load(path, backbone=encoder)
    with pytest.raises(MismatchError, match="Expected the backbone"):
        TrainedMethod.load(path, backbone=transformer("vit"))


def test_a_file_says_what_it_is(taught, tmp_path) -> None:
    model, path = taught("L2P"), tmp_path / "model.anacp"
    model.save(path)
    header = TensorFile(path, MODEL).header
    assert (header["kind"], header["method"], header["network"]["modality"]) == ("trained", "L2P", "text")
    items, _ = task(FIRST, seed=1)
    by_name = TrainedMethod.load(path)  # which may run the frozen network on another engine
    np.testing.assert_allclose(by_name.scores(items), model.scores(items), atol=1e-3)


@pytest.mark.parametrize("name", CONTINUAL)
def test_what_a_later_task_may_change(encoder, taught, name: str) -> None:
    model, before = taught(name, 2), taught(name)._state
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
def test_earlier_tasks_are_retained_as_promised(taught, name: str) -> None:
    model, (items, labels) = taught(name, 2), task(FIRST)
    own = np.flatnonzero(np.isin(model.classes_, FIRST))
    among_own = float((model.classes_[own][model.scores(items)[:, own].argmax(1)] == labels).mean())
    assert accuracy(model, task(SECOND)) > 1 / 6 + 0.15
    if name == "SequentialFineTuning":
        assert accuracy(model, (items, labels)) < 0.1  # trained over all logits, without earlier classes' examples
    else:
        assert accuracy(model, (items, labels)) > 0.3
        assert among_own > 0.7 * accuracy(taught(name), (items, labels))


# Tokens, prefixes, and the network itself; which transformer takes them is tested where they are inserted.
@pytest.mark.parametrize(("name", "kind"), [("L2P", "dinov2"), ("CODAPrompt", "vit"), ("JointFineTuning", "vit")])
def test_pictures(transformer, name: str, kind: str) -> None:
    model = make(name, transformer(kind), epochs=4)
    model.learn(*task(FIRST, "image"))
    assert model.modality == "image"
    assert accuracy(model, task(FIRST, "image")) > 1 / 3 + 0.2


def test_bad_input_changes_nothing(encoder, taught) -> None:
    items, labels = task(FIRST)
    with pytest.raises(NotLearnedError, match="Call `learn` first"):
        make("L2P", encoder).scores(items)
    model = taught("L2P")
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
    with pytest.raises(NumericalError, match="Lower its learning rates"):
        make("SequentialFineTuning", encoder, rate=1e30, head_rate=1e30).learn(items, labels)
    with pytest.raises(InputError, match="Expected all tasks at once"):
        taught("JointLinearProbe").learn(*task(SECOND))
    with pytest.raises(ParameterError, match="more than 4 blocks, got 2"):
        DualPrompt(encoder).learn(items, labels)
    for name, wrong in (("L2P", {"n_chosen": 9}), ("CODAPrompt", {"length": 5}), ("SLCA", {"epochs": 0})):
        with pytest.raises(ParameterError):
            make(name, encoder, **wrong)


@pytest.mark.parametrize("name", CONTINUAL)
def test_a_class_may_come_again(encoder, name: str) -> None:
    model = make(name, encoder, epochs=1)
    for labels in (FIRST, ("red", "house"), ("red", "green")):  # the last brings nothing new
        model.learn(*task(labels, n=16))
    assert model.classes_.tolist() == ["blue", "green", "house", "red"]
    assert model._arrived.task_of.tolist() == [0, 0, 0, 1]
    assert np.isfinite(model.scores(["a red house"])).all()


def test_a_method_that_no_catalogue_has_says_so(encoder, tmp_path) -> None:
    class Stray(DualPrompt):
        pass

    with pytest.raises(ParameterError, match=r"got Stray\. Decorate it"):
        Stray(encoder).save(tmp_path / "model.anacp")
