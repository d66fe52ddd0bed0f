import numpy as np
import pytest

from anacp.evaluation import average_incremental_accuracy, expected_calibration_error, forgetting, last_accuracy

MATRIX = np.array([[90.0, np.nan, np.nan], [80.0, 70.0, np.nan], [60.0, 75.0, 0.0]])


def test_metrics_by_hand() -> None:
    assert last_accuracy(MATRIX) == pytest.approx(45.0)  # a task at 0 counts
    assert average_incremental_accuracy(MATRIX) == pytest.approx((90 + 75 + 45) / 3)
    assert forgetting(MATRIX) == pytest.approx((30 + 0) / 2)
    assert forgetting(MATRIX[:1, :1]) == 0


def test_calibration_error_by_hand() -> None:
    confidence, correct = np.array([0.95, 0.95, 0.55, 1.0]), np.array([1, 0, 1, 1])
    expected = (abs(1 - 0.95 + 0 - 0.95 + 1 - 1.0) + abs(1 - 0.55)) / 4
    assert expected_calibration_error(confidence, correct, n_bins=10) == pytest.approx(expected)
    generator = np.random.default_rng(0)
    confidence = generator.uniform(size=200_000)
    assert expected_calibration_error(confidence, generator.uniform(size=200_000) < confidence) < 0.01
