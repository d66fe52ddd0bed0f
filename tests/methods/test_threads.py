"""One classifier, many threads: every example counts once, and answers are of one moment."""

from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.testing.threads import together
from tests.backbones.models import needs_minilm
from tests.backbones.test_backbone import small
from tests.learners.interleaving import interleave
from tests.methods.inputs import pictures, sentences
from tests.methods.test_classifier import made, quick, same

SHOWN = pictures(["blue", "green", "red"], range(20, 22))[0]


def test_the_same_pictures_from_many_threads_count_once() -> None:
    classifier, learned = anacp.Classifier(small(), quick()), []
    together([lambda: learned.append(classifier.learn(*pictures(["blue", "red"], range(4))))] * 8)
    assert sum(one.n_new for one in learned) == 8
    assert [one.n_new + one.n_known for one in learned] == [8] * 8
    same(classifier, made())


@pytest.mark.parametrize("seed", range(4))
def test_learning_forgetting_and_asking_at_every_line(seed: int, tmp_path: Path) -> None:
    classifier = made(labels=("blue", "red"), numbers=range(4))
    answers, forgotten = [], []
    tasks = [
        lambda: classifier.learn(*pictures(["green"], range(4))),
        lambda: classifier.learn(*pictures(["green"], range(2, 6))),
        lambda: forgotten.append(classifier.forget(*pictures(["red"], range(4)), on_unknown="skip")),
        lambda: forgotten.append(classifier.forget(*pictures(["red"], range(4)), on_unknown="skip")),
        lambda: answers.append(classifier.answer(SHOWN)),
        lambda: answers.append(classifier.answer(SHOWN)),
        lambda: classifier.save(tmp_path / "model"),
    ]
    assert interleave(tasks, seed) > 50
    assert sum(one.n_forgotten for one in forgotten) == 4
    assert sum(one.n_unknown for one in forgotten) == 4
    for answer in answers:
        assert answer.probabilities.shape == (len(SHOWN), len(answer.classes))
        np.testing.assert_allclose(answer.probabilities.sum(1), 1)
    saved = anacp.Classifier.load(tmp_path / "model", backbone=small())
    assert saved.n_examples == int(saved.learner._knowledge.memory.moments.n)
    expected = anacp.Classifier(small(), quick())
    expected.learn(*pictures(["blue"], range(4)))
    expected.learn(*pictures(["green"], range(6)))
    same(classifier, expected)


@needs_minilm
def test_one_tokenizer_serves_many_threads() -> None:
    """It changes its padding when it is called."""
    classifier = anacp.Classifier("minilm-l6", quick())
    classifier.learn(*sentences(["greeting", "weather", "money"]))
    texts = [" ".join(["hello there"] * n) for n in (1, 9, 30, 2)]
    alone, seen = classifier.features(texts), []
    together([lambda: seen.append(classifier.features(texts))] * 6)
    for x in seen:
        np.testing.assert_array_equal(x, alone)
