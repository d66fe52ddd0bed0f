"""Every registered learner, in every setting that takes a branch of its own."""

from anacp.catalogue import METHODS, MethodEntry
from anacp.learners import Learner

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
    "AveragedAnaCP": [
        {"n_members": 2, "n_projected": 60, "n_heads": 2, "n_replay": 9, "ridge": 1.0, "classifier_ridge": 1.0},
        {"n_members": 1, "n_projected": 60, "n_heads": 1, "ridge": "squared error", "targets": "means"},
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
    return [entry.make(**setting) for entry in _classes() for setting in SETTINGS.get(entry.name, [{}])]


def one_of_each() -> list[Learner]:
    """Every class in the first of its settings."""
    return [entry.make(**SETTINGS.get(entry.name, [{}])[0]) for entry in _classes()]


def _classes() -> list[MethodEntry]:
    known = [entry for entry in METHODS.values() if entry.takes == "features" and not entry.parameters]
    return [entry for entry in known if entry.make.__module__.startswith("anacp.")]
