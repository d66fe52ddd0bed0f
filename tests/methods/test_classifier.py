"""A backbone and a learner as one: every example once, all or nothing, on its own backbone only."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import anacp
from anacp.datasets import read_folder, read_labelled
from anacp.encoders import FeatureStore
from anacp.errors import ImageError, InputError, MismatchError, ModelFileError, NotLearnedError, ParameterError
from anacp.learners import Learner
from anacp.progress import Progress
from tests.backbones.models import needs_lite0, needs_minilm
from tests.backbones.test_backbone import SmallNetwork, small
from tests.methods.inputs import folder, pictures, sentences, zipped

FEW, MORE = range(4), range(4, 8)


def quick(learner: str = "AnaCP") -> Learner:
    """A learner that solves in a moment."""
    narrow = (
        {"n_projected": 300, "n_heads": 1, "n_replay": 20, "ridge": 0.1, "classifier_ridge": 0.1}
        if learner == "AnaCP"
        else {}
    )
    narrow |= {"n_projected": 60} if learner == "RanPAC" else {}
    return getattr(anacp, learner)(dtype="float64", **narrow)


def made(learner: str = "AnaCP", labels: tuple[str, ...] = ("blue", "red"), numbers: range = FEW) -> anacp.Classifier:
    classifier = anacp.Classifier(small(), quick(learner))
    classifier.learn(*pictures(list(labels), numbers))
    return classifier


def same(one: anacp.Classifier, other: anacp.Classifier) -> None:
    """Equal in everything that can be asked."""
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.n_examples == other.n_examples
    shown, labels = pictures(["blue", "green", "red"], range(20, 24))
    np.testing.assert_allclose(one.predict_proba(shown), other.predict_proba(shown), atol=1e-6)
    every, labels = pictures(["blue", "green", "red"], range(8))
    assert one.is_known(every, labels).tolist() == other.is_known(every, labels).tolist()


@needs_lite0
def test_images_as_paths_and_pictures(tmp_path) -> None:
    path = folder(tmp_path / "photos", ["blue", "red"], FEW)
    classifier = anacp.Classifier(learner=quick())
    examples = read_labelled(path)
    steps: list[Progress] = []
    learned = classifier.learn(examples.items, examples.labels, report=steps.append)
    assert (learned.n_new, learned.n_known, learned.new_classes) == (8, 0, ["blue", "red"])
    assert (steps[-1].done, steps[-1].total) == (8, 8)
    learned = classifier.learn(*pictures(["green", "red"], MORE))
    assert (learned.n_new, learned.new_classes, classifier.classes_.tolist()) == (
        8,
        ["green"],
        ["blue", "green", "red"],
    )
    shown, labels = pictures(["blue", "green", "red"], range(20, 23))
    assert classifier.predict(shown).tolist() == labels
    top = classifier.top(shown, k=2)
    assert [best[0][0] for best in top] == labels
    assert all(1 > first[1] > second[1] > 0 for first, second in top)
    assert classifier.predict([str(path / "red" / "000.png")]).tolist() == ["red"]


@needs_minilm
def test_texts_learned_and_forgotten() -> None:
    labels = ["greeting", "weather"]
    classifier = anacp.Classifier("minilm-l6", quick("LinearProbe"))  # it finds rows by their bits: none may differ
    classifier.learn(*sentences(labels))
    never = anacp.Classifier(classifier.encoder, quick("LinearProbe"))
    never.learn(*sentences(labels))
    classifier.learn(*sentences(["money"]))
    classifier.learn(*sentences(["money"], range(1)))
    assert classifier.predict(["please pay my bill", "is there snow outside?"]).tolist() == ["money", "weather"]
    forgotten = classifier.forget(*sentences(["money"]))
    assert (forgotten.n_forgotten, forgotten.lost_classes) == (4, ["money"])
    shown = ["what a sunny day", "hello you"]
    np.testing.assert_allclose(classifier.predict_proba(shown), never.predict_proba(shown), atol=1e-6)
    with pytest.raises(InputError, match=r"Expected texts, got \w*Path"):
        classifier.learn([Path("a.png")], ["money"])


def test_every_example_counts_once() -> None:
    classifier = made()
    shown, labels = pictures(["blue", "red"], range(5))
    learned = classifier.learn([*shown, shown[4]], [*labels, labels[4]])
    assert (learned.n_new, learned.n_known, learned.new_classes) == (2, 9, [])
    assert classifier.learn(shown, labels).n_new == 0
    assert classifier.learn([], []).n_new == 0
    assert classifier.learn(shown[:1], ["sea"]).new_classes == ["sea"]  # the same picture in another class is another
    classifier.forget(shown[:1], ["sea"])
    same(classifier, made(numbers=range(5)))


@pytest.mark.parametrize("learner", ["AnaCP", "NCM", "FeCAM", "RanPAC", "LinearProbe"])
def test_forgetting_is_never_having_learned(learner: str) -> None:
    classifier = made(learner, ("blue", "green", "red"), range(8))
    forgotten = classifier.forget(*pictures(["blue", "green", "red"], MORE))
    assert (forgotten.n_forgotten, forgotten.n_unknown, forgotten.lost_classes) == (12, 0, [])
    same(classifier, made(learner, ("blue", "green", "red")))
    assert classifier.forget(*pictures(["green"], FEW)).lost_classes == ["green"]
    same(classifier, made(learner))


def test_what_was_never_learned_cannot_be_forgotten() -> None:
    classifier = made()
    with pytest.raises(InputError, match=r"got 4 that were not, such as .* as 'blue'"):
        classifier.forget(*pictures(["blue"], range(8)))
    same(classifier, made())
    assert classifier.forget(*pictures(["blue"], range(8)), on_unknown="skip").n_unknown == 4
    same(classifier, made(labels=("red",)))
    classifier.forget(*pictures(["red"], FEW))
    with pytest.raises(NotLearnedError):
        classifier.predict(pictures(["red"], FEW)[0])


@pytest.mark.parametrize("learner", ["FeCAM", "LinearProbe"])
def test_a_class_can_go_where_classes_are_kept_apart(learner: str) -> None:
    classifier = made(learner, ("blue", "green", "red"))
    classifier.forget_class("green")
    same(classifier, made(learner))
    with pytest.raises(InputError, match="Expected a class learned before, got 'green'"):
        classifier.forget_class("green")


@pytest.mark.parametrize("learner", ["AnaCP", "NCM", "RanPAC"])
def test_a_class_cannot_go_where_classes_are_pooled(learner: str) -> None:
    classifier = made(learner)
    with pytest.raises(InputError, match=f"got {learner}, which pools all classes in moments.*unlearn its examples"):
        classifier.forget_class("red")
    same(classifier, made(learner))


def test_merging_is_learning_both() -> None:
    first, second = made(), made(labels=("green", "red"), numbers=MORE)
    both = made()
    both.learn(*pictures(["green", "red"], MORE))
    same(first + second, both)
    same(sum([second, first]), both)
    with pytest.raises(MismatchError, match="got 8 in both"):
        first + made()
    with pytest.raises(MismatchError, match="one learner, got AnaCP and NCM"):
        first + made("NCM")  # which is said before that they share examples
    other = anacp.Classifier(small(name="other", architecture="other"), quick())
    other.learn(*pictures(["green"], MORE))
    with pytest.raises(MismatchError, match=r"learned with, small .*, got "):
        first + other


def test_a_file_holds_everything(tmp_path) -> None:
    classifier = made()
    classifier.save(tmp_path / "model")
    restored = anacp.Classifier.load(tmp_path / "model", backbone=small())
    same(restored, classifier)
    restored.learn(*pictures(["blue", "green"], range(8)))
    assert restored.n_examples == 20
    restored.learner.save(tmp_path / "learner")
    assert isinstance(anacp.load(tmp_path / "learner"), anacp.AnaCP)
    with pytest.raises(ModelFileError, match="got a model of another kind"):
        anacp.Classifier.load(tmp_path / "learner")


def test_a_solution_is_in_the_file(tmp_path) -> None:
    shown, _ = pictures(["blue", "green", "red"], range(20, 24))
    classifier = made().solve()
    classifier.save(tmp_path / "model")
    restored = anacp.Classifier.load(tmp_path / "model", backbone=small())
    assert restored.learner._knowledge.solved_with(restored.learner.get_params())
    np.testing.assert_array_equal(restored.predict_proba(shown), classifier.predict_proba(shown))
    with pytest.raises(NotLearnedError, match="has learned nothing yet"):
        anacp.Classifier(small(), quick()).solve()


def test_another_backbone_is_refused(tmp_path) -> None:
    made().save(tmp_path / "model")
    with pytest.raises(MismatchError, match=r"Expected the backbone .* small \(fingerprint \w{12}\), got other"):
        anacp.Classifier.load(tmp_path / "model", backbone=small(name="other", architecture="other"))
    adapted = small().with_module(SmallNetwork(), "first session")
    with pytest.raises(MismatchError, match="adapted: first session"):
        anacp.Classifier.load(tmp_path / "model", backbone=adapted)


@needs_lite0
@needs_minilm
def test_the_file_names_its_backbone(tmp_path) -> None:
    classifier = anacp.Classifier("minilm-l6", quick())
    classifier.learn(*sentences(["greeting", "weather"]))
    classifier.save(tmp_path / "model")
    restored = anacp.load(tmp_path / "model")
    assert isinstance(restored, anacp.Classifier)
    assert repr(restored) == "<Classifier minilm-l6 + AnaCP: 2 classes, 8 examples>"
    assert restored.predict(["hello"]).tolist() == ["greeting"]
    with pytest.raises(MismatchError, match="Use minilm-l6, or learn a model of its own with efficientnet-lite0"):
        anacp.Classifier.load(tmp_path / "model", backbone="efficientnet-lite0")


def test_a_bad_image_changes_nothing_or_is_skipped(tmp_path) -> None:
    path = folder(tmp_path, ["blue", "green"], MORE)
    (path / "green" / "broken.png").write_bytes(b"no picture")
    examples = read_labelled(path)
    classifier = made()
    with pytest.raises(ImageError, match=r"green/broken\.png"):
        classifier.learn(examples.items, examples.labels)
    same(classifier, made())
    learned = classifier.learn(examples.items, examples.labels, on_error="skip")
    assert [Path(str(item)).name for item, _ in learned.skipped] == ["broken.png"]
    assert (learned.n_new, classifier.n_examples) == (8, 16)
    again = classifier.learn(examples.items, examples.labels, on_error="skip")
    assert (again.n_new, len(again.skipped)) == (0, 1)
    with pytest.raises(ImageError, match=r"missing\.png"):
        classifier.predict([tmp_path / "missing.png"])


def test_packed_and_unpacked_are_the_same_examples(tmp_path) -> None:
    path = folder(tmp_path / "photos", ["blue", "red"], FEW)
    packed = read_labelled(zipped(path, tmp_path / "photos.zip"))
    unpacked = read_labelled(path)
    classifier = anacp.Classifier(small(), quick(), store=FeatureStore(tmp_path / "store"))
    assert classifier.learn(packed.items, packed.labels).n_new == 8
    assert classifier.learn(unpacked.items, unpacked.labels).n_new == 0
    np.testing.assert_array_equal(classifier.features(packed.items), classifier.features(unpacked.items))
    (path / "red" / "000.png").write_bytes(b"no picture")
    broken = read_folder(zipped(path, tmp_path / "broken.zip"))
    with pytest.raises(ImageError, match=r"red/000\.png"):
        classifier.learn([*broken.train.items, *broken.test.items], ["x"] * 8)


def test_a_store_keeps_features(tmp_path) -> None:
    store = FeatureStore(tmp_path)
    classifier = anacp.Classifier(small(), quick(), store=store)
    classifier.learn(*pictures(["blue", "red"], FEW))
    assert [(entry.key, entry.n_rows) for entry in store.entries()] == [(small().fingerprint, 8)]
    same(classifier, made())


def test_whole_numbers_as_labels(tmp_path) -> None:
    classifier = anacp.Classifier(small(), quick())
    classifier.learn(pictures(["blue", "red"], FEW)[0], np.repeat([7, 3], 4))
    classifier.save(tmp_path / "model")
    restored = anacp.Classifier.load(tmp_path / "model", backbone=small())
    assert restored.top(pictures(["red"], MORE)[0], k=5)[0][0][0] == 3
    assert restored.learn(pictures(["blue", "red"], FEW)[0], np.repeat([7, 3], 4)).n_new == 0
    with pytest.raises(InputError, match=r"kind learned before \(number\), got text"):
        restored.learn(pictures(["blue"], MORE)[0], ["7"] * 4)


def test_what_cannot_be_used_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    classifier = made()
    with pytest.raises(InputError, match="one label for each of the 4 inputs"):
        classifier.learn(pictures(["blue"], FEW)[0], ["blue"])
    with pytest.raises(InputError, match="labels of one kind"):
        classifier.learn(pictures(["blue"], range(2))[0], ["blue", 1])
    with pytest.raises(InputError, match="Put it into a list"):
        classifier.predict("photo.png")
    with pytest.raises(InputError, match="Expected inputs, got none"):
        classifier.predict([])
    with pytest.raises(ParameterError, match="k of at least 1"):
        classifier.top(pictures(["blue"], FEW)[0], k=0)
    with pytest.raises(ParameterError, match="learned nothing yet, got AnaCP with 2 classes"):
        anacp.Classifier(small(), classifier.learner)
    with pytest.raises(NotLearnedError, match="has learned nothing yet"):
        anacp.Classifier(small(), quick()).predict([Image.new("RGB", (8, 8))])
    with pytest.raises(anacp.errors.UnknownNameError, match="Did you mean 'minilm-l6'"):
        anacp.Classifier("minilm-16")
    classifier.summary()
    printed = capsys.readouterr().out
    assert "images to 6 features" in printed
    assert "8 examples known by 64 B of digests" in printed
