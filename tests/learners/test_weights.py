"""Weights in files and at their limits, and sparse matrices of more rows than fit at once."""

from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix, random_array

import anacp
from anacp.errors import InputError
from anacp.learners import NCM, SLDA, WAITING_ROWS, AnaCP, LinearProbe, RanPAC, base
from anacp.testing import assert_same, blobs
from tests.cli.conftest import anacp as command


@pytest.mark.parametrize("learner", [AnaCP(n_projected=60, ridge=1.0), RanPAC(n_projected=60), SLDA()], ids=repr)
def test_weights_are_kept_in_a_file(learner: base.Learner, tmp_path: Path) -> None:
    x, y = blobs()
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    model = learner.partial_fit(x, y, sample_weight=weights)
    model.save(tmp_path / "model", exact=True)
    loaded = anacp.load(tmp_path / "model")
    assert_same(loaded, model, x)
    assert_same(loaded.partial_fit(x[:5], y[:5]), model.partial_fit(x[:5], y[:5]), x)
    model.solve(probabilities=True).save(tmp_path / "model")
    assert (anacp.Predictor(tmp_path / "model").predict(x) == model.predict(x)).all()
    assert "AnaCP" in command("info", tmp_path / "model") or not isinstance(learner, AnaCP)


def test_whole_weights_leave_the_file_that_rows_would(tmp_path: Path) -> None:
    x, y = blobs()
    NCM().partial_fit(x, y, sample_weight=np.full(len(y), 2.0)).save(tmp_path / "weighted")
    NCM().partial_fit(x, y).partial_fit(x, y).save(tmp_path / "twice")
    counts = [anacp.load(tmp_path / name)._knowledge.memory.moments.counts for name in ("weighted", "twice")]
    assert counts[0].dtype == counts[1].dtype
    assert counts[0].tolist() == counts[1].tolist()


def test_weights_that_sum_to_one_are_weights() -> None:
    x, y = blobs(n_rows=200)
    weights = np.random.default_rng(0).uniform(0.5, 1, len(y))
    model, scaled = (SLDA(shrinkage=0.1, blend=True).fit(x, y, sample_weight=one) for one in (weights, weights / 1e6))
    np.testing.assert_allclose(scaled.scores(x), model.scores(x), rtol=1e-4)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0, "a", 1e300])
def test_what_is_no_weight_is_refused(bad: object) -> None:
    x, y = blobs()
    model = NCM().partial_fit(x, y)
    with pytest.raises(InputError, match="sample_weight"):
        model.partial_fit(x, y, sample_weight=[bad] * len(y))


def test_a_sparse_matrix_never_becomes_one_dense_array() -> None:
    generator = np.random.default_rng(0)
    n = 3 * WAITING_ROWS + 5
    x = csr_matrix(random_array((n, 50), density=0.1, rng=generator))
    y = generator.integers(0, 3, n)
    sizes: list[int] = []

    def measured(rows: object) -> np.ndarray:
        made = dense(rows)
        sizes.append(len(made))
        return made

    dense = base.dense
    with mock.patch.object(base, "dense", measured):
        model = NCM().partial_fit(x, y)
        predicted = model.predict(x)
        model.unlearn(x[y == 2], y[y == 2])
    assert max(sizes) <= WAITING_ROWS
    assert sum(sizes) == 2 * n + (y == 2).sum()
    assert (predicted == NCM().partial_fit(x.toarray(), y).predict(x.toarray())).all()


def test_tables_of_pandas_and_polars_are_rows() -> None:
    x, y = blobs()
    names = [f"f{column}" for column in range(x.shape[1])]
    expected = NCM().partial_fit(x, y)
    for table in (pd.DataFrame(x, columns=names), pl.DataFrame(x, schema=names)):
        labels = pd.Series(y) if isinstance(table, pd.DataFrame) else pl.Series(y)
        weights = pd.Series(np.ones(len(y))) if isinstance(table, pd.DataFrame) else pl.Series(np.ones(len(y)))
        model = NCM().partial_fit(table, labels, sample_weight=weights)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(model.scores(table), expected.scores(x))


def test_rows_that_are_kept_count_whole_times_only() -> None:
    x, y = blobs()
    with pytest.raises(InputError, match="Expected whole numbers as sample_weight"):
        LinearProbe().partial_fit(x, y, sample_weight=np.full(len(y), 0.5))
