"""Whether a class was taught enough, and which labels are likely wrong, from statistics alone."""

import numpy as np
import pytest

from anacp import load_sample
from anacp.errors import InputError
from anacp.learners import NCM, SLDA, AnaCP, Ridge, class_outlooks, leave_one_out
from anacp.linalg import unit_rows
from anacp.testing import blobs


@pytest.mark.parametrize("learner", [NCM(), SLDA(), AnaCP(n_projected=60, ridge=1.0)], ids=repr)
def test_what_is_hard_is_known(learner) -> None:
    generator = np.random.default_rng(0)
    means = 4 * np.eye(4, 8)
    means[1] = means[0] + 0.5 * np.eye(8)[5]  # two classes that hardly differ, and two that do
    y = np.repeat(np.arange(4), [40, 40, 40, 2])
    x = means[y] + generator.normal(size=(len(y), 8)) * 0.7
    alike, other, clear, few = class_outlooks(learner.fit(x, y))
    assert (alike.confused_with, other.confused_with) == (1, 0)
    assert alike.sure < clear.sure
    assert other.sure < clear.sure
    assert few.gain > 2 * abs(clear.gain)
    assert (few.n, clear.n) == (2, 40)
    assert all(0 <= one.sure <= 1 and 0 <= one.confusion <= 1 for one in (alike, other, clear, few))


@pytest.mark.parametrize("name", ["clinc150", "cifar100"])
def test_what_one_more_example_gains_is_foreseen(name: str) -> None:
    """On real features: the more examples, the surer and the smaller the gain, about as large as it turns out."""
    sample, generator = load_sample(name), np.random.default_rng(0)
    classes = np.unique(sample.y_train)[:10]
    order = {c: generator.permutation(np.flatnonzero(sample.y_train == c)) for c in classes}
    shown = np.isin(sample.y_test, classes)
    x_test, y_test = sample.x_test[shown], sample.y_test[shown]

    def taught(n: int) -> NCM:
        rows = np.concatenate([order[c][:n] for c in classes])
        return NCM().fit(sample.x_train[rows], sample.y_train[rows])

    def sure(learner: NCM) -> float:
        own = np.searchsorted(learner.classes_, y_test)
        return float(learner.predict_proba(x_test)[np.arange(len(own)), own].mean())

    foreseen = {n: class_outlooks(taught(n)) for n in (2, 5, 40)}
    gains = [float(np.mean([one.gain for one in outlooks])) for outlooks in foreseen.values()]
    assert gains[0] > gains[1] > gains[2] >= 0
    real = sure(taught(3)) - sure(taught(2))
    assert real / 5 < gains[0] < 5 * real
    assert np.mean([one.sure for one in foreseen[2]]) < np.mean([one.sure for one in foreseen[40]])


def test_one_class_is_confused_with_none() -> None:
    x, y = blobs(n_classes=1)
    (one,) = class_outlooks(NCM().fit(x, y))
    assert one.confused_with is None


def test_leaving_one_out_is_learning_without_it() -> None:
    import torch

    x, y = blobs(n_rows=10)
    classes, scores, ridge = leave_one_out(x, y)
    rows = unit_rows(torch.from_numpy(x)).numpy()
    for row in range(0, len(x), 7):
        others = np.arange(len(x)) != row
        without = Ridge(ridge=ridge, dtype="float64").fit(rows[others], y[others])
        np.testing.assert_allclose(scores[row], without.scores(rows[row : row + 1])[0], atol=1e-9)
    assert classes.tolist() == [0, 1, 2, 3, 4]


def test_wrong_labels_are_found() -> None:
    x, y = blobs(n_rows=40)
    wrong = np.arange(0, len(y), 20)
    given = y.copy()
    given[wrong] = (y[wrong] + 1) % 5
    _, scores, _ = leave_one_out(x, given)
    own = scores[np.arange(len(y)), given]
    margin = own - np.where(np.arange(5) == given[:, None], -np.inf, scores).max(1)
    assert set(np.argsort(margin)[: len(wrong)]) >= set(wrong[: len(wrong) - 1])
    with pytest.raises(InputError, match="two classes or more"):
        leave_one_out(x, np.zeros(len(y)))
