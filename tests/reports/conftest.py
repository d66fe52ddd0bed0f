"""Runs that many tests read and none changes, made once."""

from pathlib import Path

import pytest

from anacp.experiments import Specification
from anacp.paper import TABLES, Cell
from tests.reports.made import SUBSTITUTE, TEN, make, of_table1, write_features


@pytest.fixture(scope="session")
def features(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_features(tmp_path_factory.mktemp("features") / "blobs.npz")


@pytest.fixture(scope="session")
def table1(features: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six rows of Table 1, three seeds each, as a substitute."""
    root = tmp_path_factory.mktemp("table1")
    make(root, of_table1(features))
    return root


@pytest.fixture(scope="session")
def ablation(features: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few rows of the ablation, quick: every D is 50, whatever the paper's row has."""
    root = tmp_path_factory.mktemp("ablation")
    rows = [TABLES["ablation"].rows[title] for title in ("1", "2", "10", "16", "without FSA")]
    quick = {"n_projected": 50}
    make(root, [
        Specification(
            features, row.method, {**row.parameters, **(quick if row.method == "AnaCP" else {})}, title=row.title,
            scenario=TEN, paper=Cell("ablation", row.title, "CIFAR100"), quick=True, substitute=SUBSTITUTE,
        )
        for row in rows
    ])  # fmt: skip
    return root
