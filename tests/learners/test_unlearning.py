"""Unlearning leaves what was there before, or is refused and changes nothing."""

from pathlib import Path

import numpy as np
import pytest
import torch

import anacp
from anacp.errors import NumericalError
from anacp.learners import contents
from anacp.testing import blobs


@pytest.mark.parametrize("seed", range(0, 100, 5))
def test_a_class_of_fecam_goes_from_thirty_examples_to_one(seed: int) -> None:
    x, y = blobs(n_classes=4, n_rows=30, seed=seed)
    gone = np.flatnonzero(y == 2)[1:]
    model = anacp.FeCAM().fit(x, y).unlearn(x[gone], y[gone])
    kept = np.setdiff1d(np.arange(len(y)), gone)
    never = anacp.FeCAM().fit(x[kept], y[kept])
    assert not model._knowledge.memory.moments.triangles[2].diagonal().any()
    np.testing.assert_allclose(model.scores(x), never.scores(x), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(model.predict(x), never.predict(x))


@pytest.mark.parametrize("scale", [3.0, 300.0, 3e3, 1e6, 1e12])
def test_a_large_batch_is_taken_away_exactly_or_not_at_all(scale: float) -> None:
    sample = anacp.load_sample("clinc150")
    x, y, shown = sample.x_train[::10], sample.y_train[::10], sample.x_test[::20]
    model = anacp.GACL(n_projected=300, ridge=1.0).fit(x, y)
    never = model.scores(shown)
    model.partial_fit(x[:40] * scale, y[:40])
    before = contents(model)[1]
    if scale < 300:
        np.testing.assert_allclose(model.unlearn(x[:40] * scale, y[:40]).scores(shown), never, atol=1e-2)
    else:
        with pytest.raises(NumericalError, match="Learn what stays anew"):
            model.unlearn(x[:40] * scale, y[:40])
        after = contents(model)[1]
        assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    wide = anacp.GACL(n_projected=300, ridge=1.0, dtype="float64").fit(x, y)
    expected = wide.scores(shown)
    if scale <= 3e3:
        wide.partial_fit(x[:40] * scale, y[:40]).unlearn(x[:40] * scale, y[:40])
        np.testing.assert_allclose(wide.scores(shown), expected, atol=1e-5)


def test_small_rows_that_large_ones_have_covered_are_refused(tmp_path: Path) -> None:
    x, y = blobs()
    large = x[:3] * 1e9
    model = anacp.NCM().fit(np.concatenate([x * 1e-9, large]), np.concatenate([y, y[:3]]))
    model.save(tmp_path / "model.anacp")
    for one in (model, anacp.load(tmp_path / "model.anacp"), model + anacp.NCM().fit(x * 1e-9, y)):
        with pytest.raises(NumericalError, match="left in moments"):
            one.unlearn(large, y[:3])


def test_nothing_is_left_of_nothing() -> None:
    x, y = blobs()
    gram = anacp.GACL(n_projected=30).fit(x, y)._knowledge.memory.absorbed().statistics["gram"]
    classes = torch.from_numpy(y)
    for statistic in (gram, anacp.LoRanPAC(n_projected=30).fit(x, y)._knowledge.memory.absorbed().statistics["gram"]):
        left = statistic.plus(torch.from_numpy(x.astype(np.float32)), classes, sign=-1)
        assert all(not tensor.any() for tensor in left.tensors().values())
        assert left.doubt(classes[:0]) == 0


def test_what_was_dropped_cannot_be_taken_away() -> None:
    x, y = blobs(n_rows=60)
    model = anacp.LoRanPAC(n_projected=300, max_rank=40).fit(x, y)
    with pytest.raises(NumericalError, match="left in gram"):
        model.unlearn(x[:100], y[:100])


def test_a_loaded_model_merges_with_a_new_one(tmp_path: Path) -> None:
    x, y = blobs()
    model = anacp.SLDA().fit(x[:30], y[:30])
    model.save(tmp_path / "model.anacp")
    both = anacp.load(tmp_path / "model.anacp") + anacp.SLDA().fit(x[30:], y[30:])
    np.testing.assert_allclose(both.scores(x), anacp.SLDA().fit(x, y).scores(x), atol=1e-4)


def test_rows_go_one_by_one_whichever_fold_they_were_in() -> None:
    x, y = blobs(n_rows=2)
    model = anacp.ELM(n_projected=20, ridge="accuracy").fit(x, y)
    for i in range(len(x) - 1):
        model.unlearn(x[i : i + 1], y[i : i + 1])
    assert model.classes_.tolist() == [y[-1]]
