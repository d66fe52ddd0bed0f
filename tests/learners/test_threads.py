"""One learner, many threads: real ones, and ones that are made to meet at every line."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import anacp
from anacp.errors import AnacpError
from anacp.learners import GACL, NCM, FeCAM, Learner
from anacp.testing import assert_same, blobs
from anacp.testing.threads import together
from tests.learners.interleaving import interleave

X, Y = blobs(n_classes=6, n_rows=10)
PARTS = [(X[part == Y // 2], Y[part == Y // 2]) for part in range(3)]
LEARNERS = [NCM(), GACL(n_projected=40), FeCAM(), anacp.AnaCP(n_projected=40, n_heads=1, n_replay=5)]


def test_many_predictions_solve_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first defect: every thread added the waiting rows to the Gram matrix."""
    sample, solve, calls = anacp.load_sample("clinc150"), GACL._solve, []
    monkeypatch.setattr(GACL, "_solve", lambda *arguments: calls.append(1) or solve(*arguments))
    model = GACL(n_projected=500).partial_fit(sample.x_train[:900], sample.y_train[:900])
    alone = clone(model).partial_fit(sample.x_train[:900], sample.y_train[:900])
    expected, calls[:] = alone.scores(sample.x_test[:50]), []
    answers: list[Any] = []
    together([lambda: answers.append(model.scores(sample.x_test[:50]))] * 8)
    assert len(calls) == 1
    assert len(answers) == 8
    for scores in answers:
        np.testing.assert_array_equal(scores, expected)
    one, other = (float(each._knowledge.memory.statistics["gram"].gram.diagonal().sum()) for each in (model, alone))
    assert one == other


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_teaching_beside_predicting_loses_nothing(learner: Learner) -> None:
    x, y = blobs(n_classes=4, n_rows=150)
    model = clone(learner).partial_fit(x[:20], y[:20])

    def teach(start: int) -> None:
        for row in range(start, len(x), 4):
            model.partial_fit(x[row : row + 1], y[row : row + 1])

    def ask() -> None:
        for _ in range(40):
            model.predict(x[:9])

    together([lambda start=start: teach(start) for start in range(20, 24)] + [ask] * 4)
    assert model.parts() == clone(learner).fit(x, y).parts()
    assert int(model._knowledge.memory.absorbed().moments.n) == len(x)
    assert_same(model, clone(learner).fit(x, y), x[:50])


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_every_line_may_be_the_one_where_another_thread_comes(learner: Learner, seed: int, tmp_path: Path) -> None:
    model = clone(learner).partial_fit(*PARTS[0]).partial_fit(*PARTS[1])
    seen: list[tuple[Any, Any]] = []
    tasks = [
        lambda: model.partial_fit(*PARTS[2]),
        lambda: model.unlearn(*PARTS[1]),
        lambda: seen.append(model.classes_and_probabilities(X)),
        lambda: seen.append(model.classes_and_probabilities(X)),
        lambda: seen.append((model + clone(learner)).classes_and_probabilities(X)),
        lambda: model.save(tmp_path / "model"),
        lambda: seen.append(copy.deepcopy(model).classes_and_probabilities(X)),
    ]
    assert interleave(tasks, seed) > 100
    seen.append(anacp.load(tmp_path / "model").classes_and_probabilities(X))
    states = [clone(learner).fit(X[rows], Y[rows]) for rows in (Y < 4, Y < 2, Y >= 0, (Y < 2) | (Y >= 4))]
    expected = [state.classes_and_probabilities(X) for state in states]
    assert len(seen) == 5
    for classes, probabilities in seen:
        assert any(
            np.array_equal(classes, others) and np.allclose(probabilities, wanted, atol=2e-3)
            for others, wanted in expected
        )
    assert_same(model, states[3], X)


@pytest.mark.parametrize("seed", range(6))
def test_parameters_change_between_answers_and_not_within_one(seed: int) -> None:
    model = GACL(n_projected=40, ridge=1.0).partial_fit(X, Y)
    seen: list[Any] = []
    tasks = [lambda: model.set_params(ridge=1e4)] + [lambda: seen.append(model.scores(X))] * 4
    interleave(tasks, seed)
    allowed = [GACL(n_projected=40, ridge=ridge).fit(X, Y).scores(X) for ridge in (1.0, 1e4)]
    for scores in seen:
        assert any(np.allclose(scores, one, atol=1e-4) for one in allowed)


@pytest.mark.parametrize("seed", range(6))
def test_fitting_anew_shows_the_old_model_or_the_new(seed: int) -> None:
    model = NCM().fit(X, Y)
    other_x, other_y = blobs(n_classes=3, n_features=5)
    seen: list[tuple[int, int]] = []
    refused: list[str] = []

    def ask() -> None:
        for rows, classes in ((X, 6), (other_x, 3)):
            try:
                seen.append((len(model.classes_and_probabilities(rows)[0]), classes))
            except AnacpError as problem:
                refused.append(str(problem))

    interleave([lambda: model.fit(other_x, other_y), ask, ask, ask], seed)
    assert len(seen) + len(refused) == 6
    assert all(got == wanted for got, wanted in seen)
    assert all("features" in words for words in refused)  # rows of the other width
    assert_same(model, NCM().fit(other_x, other_y), other_x)


def test_a_copy_has_a_turn_of_its_own() -> None:
    model = NCM().partial_fit(X, Y)
    for twin in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_same(twin.partial_fit(X, Y), NCM().fit(np.concatenate([X, X]), np.concatenate([Y, Y])), X)
    assert_same(model, NCM().fit(X, Y), X)
