"""The names at the top of the package are a promise."""

import subprocess
import sys

import pytest

import anacp
from anacp.catalogue import METHODS


def test_names() -> None:
    learners = [
        "AnaCP",
        "AveragedAnaCP",
        "ELM",
        "FeCAM",
        "GACL",
        "KLDA",
        "LinearProbe",
        "LoRanPAC",
        "NCM",
        "RanPAC",
        "Ridge",
        "SLDA",
    ]
    assert sorted(anacp.__all__) == sorted(
        [*learners, "Classifier", "Predictor", "__version__", "errors", "export", "load", "load_sample"]
    )
    for name in anacp.__all__:
        assert getattr(anacp, name) is not None
        assert name in dir(anacp)
    ours = {entry.make.__name__ for entry in METHODS.values() if entry.takes == "features"}
    assert ours <= set(anacp.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Anacp'"):
        anacp.Anacp  # noqa: B018


def test_importing_the_package_is_light() -> None:
    heavy = "torch", "sklearn", "numpy", "typer", "matplotlib"
    code = f"import sys, anacp; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
