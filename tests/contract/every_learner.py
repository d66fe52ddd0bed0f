"""Every registered learner, in every setting that takes a branch of its own."""

import numpy as np
import pytest

from anacp.learners import LEARNERS, Learner

__all__ = ["every_learner", "few_rows", "learners", "same"]

# Small sizes for learners whose defaults are large, and every branch.
SETTINGS: dict[str, list[dict[str, object]]] = {
    "AnaCP": [
        {"n_projected": 60, "n_heads": 2, "n_replay": 9, "ridge": 1.0, "classifier_ridge": 1.0} | extra
        for extra in (
            {},
            {"targets": "reference"},
            {"targets": "means"},
            {"covariance": "class"},
            {"classifier": "ncm"},
            {"n_heads": 0},
            {"n_heads": 0, "classifier": "ncm"},
            {"normalize": False, "activation": "relu", "ridge": 100.0, "classifier_ridge": 100.0},
            {"ridge": "squared error", "n_projected": 200, "n_replay": 30},
        )
    ],
    "ELM": [{"n_projected": 60, "ridge": 1.0}, {"n_projected": 60, "ridge": "accuracy", "normalize": False}],
    "FeCAM": [
        {},
        {"covariance": "shared", "shrinkage": 10.0, "off_diagonal_shrinkage": 10.0},
        {"correlation": False, "normalize": False},
    ],
    "GACL": [{"n_projected": 60, "ridge": 100.0}, {"n_projected": 60, "ridge": "gcv"}],
    "KLDA": [{"n_projected": 60, "gamma": 1e-2}, {"n_projected": 60, "gamma": 1e-2, "n_members": 2}],
    "LinearProbe": [{"n_epochs": 40}],
    "LoRanPAC": [{"n_projected": 60}],
    "RanPAC": [{"n_projected": 60}],
    "Ridge": [{}, {"ridge": "squared error"}],
    "SLDA": [{}, {"blend": True}],
}


def every_learner() -> list[Learner]:
    return [cls(**setting) for name, cls in LEARNERS.items() for setting in SETTINGS.get(name, [{}])]


# With so few rows a ridge at the edge of its grid is no surprise.
few_rows = pytest.mark.filterwarnings("ignore::anacp.errors.RidgeEdgeWarning")
learners = pytest.mark.parametrize("learner", every_learner(), ids=repr)
TOLERANCE = {"float32": 2e-3, "float64": 1e-9}


def same(a: Learner, b: Learner, x: np.ndarray) -> None:
    np.testing.assert_array_equal(a.classes_, b.classes_)
    np.testing.assert_allclose(a.decision_function(x), b.decision_function(x), atol=TOLERANCE[a.dtype])
    np.testing.assert_allclose(a.predict_proba(x), b.predict_proba(x), atol=TOLERANCE[a.dtype])
