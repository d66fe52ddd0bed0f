import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from anacp.evaluation import accuracy_with_rejection, auroc, false_positive_rate


@pytest.mark.parametrize("digits", [6, 1, 0])  # the fewer, the more ties
def test_as_scikit_learn_has_it(digits: int) -> None:
    generator = np.random.default_rng(digits)
    known, unknown = generator.normal(1, size=237).round(digits), generator.normal(0, 2, size=91).round(digits)
    truth, both = np.r_[np.ones(237), np.zeros(91)], np.r_[known, unknown]
    assert auroc(known, unknown) == pytest.approx(roc_auc_score(truth, both), abs=1e-12)
    false, true, _ = roc_curve(truth, both, drop_intermediate=False)
    for kept in (0.5, 0.95, 1.0):
        assert false_positive_rate(known, unknown, kept=kept) == pytest.approx(false[np.argmax(true >= kept)])


def test_by_hand() -> None:
    assert auroc(np.array([3, 2]), np.array([1, 0])) == 1
    assert auroc(np.array([1, 1]), np.array([1])) == 0.5
    assert false_positive_rate(np.arange(20.0), np.array([0.5, 1.0, 3.0])) == pytest.approx(2 / 3)
    correct, known, unknown = np.array([True, True, False, False]), np.array([1, -1, 1, -1]), np.array([-1, 0])
    assert accuracy_with_rejection(correct, known, unknown) == pytest.approx(2 / 6)
