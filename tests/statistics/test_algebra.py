"""Statistics add and subtract: properties over arbitrary data, splits and class assignments."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.testing import assert_close

from anacp.projections import RandomProjection
from anacp.statistics import ClassGram, ClassMoments, Statistic, nothing

N_FEATURES, N_CLASSES = 3, 4
# Few features: rows soon enter a triangle. Many: they stay directions.
N_PROJECTED = {"triangle": 5, "directions": 120}


@st.composite
def examples(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Rows, class indices, and where to cut."""
    n = draw(st.integers(1, 12))
    numbers = st.floats(-100, 100, allow_subnormal=False)
    x = draw(arrays(np.float64, (n, N_FEATURES), elements=numbers))
    classes = draw(arrays(np.int64, n, elements=st.integers(0, N_CLASSES - 1)))
    return torch.from_numpy(x), torch.from_numpy(classes), draw(st.integers(0, n))


def empty(kind: str) -> Statistic:
    if kind in N_PROJECTED:
        features = RandomProjection(N_FEATURES, N_PROJECTED[kind], "tanh", 0, "test", dtype=torch.float64)
        return ClassGram(features, dtype=torch.float64).at(*nothing("cpu"), N_CLASSES)
    return ClassMoments(N_FEATURES, spread=kind, dtype=torch.float64).at(*nothing("cpu"), N_CLASSES)


def of(kind: str, x: torch.Tensor, classes: torch.Tensor) -> Statistic:
    return empty(kind).plus(x, classes)


def same(a: Statistic, b: Statistic) -> None:
    for one, other in zip(numbers(a), numbers(b), strict=True):
        assert_close(one, other, rtol=1e-9, atol=1e-8)


def numbers(statistic: Statistic) -> list[torch.Tensor]:
    """What a statistic says, however it is kept."""
    if isinstance(statistic, ClassGram):
        return [statistic.gram.packed(), statistic.sums, statistic.counts]
    return list(statistic.tensors().values())


kinds = pytest.mark.parametrize("kind", ["shared", "class", "diagonal", *N_PROJECTED])


@kinds
@given(examples())
@settings(deadline=None)
def test_parts_add_up_to_the_whole(kind: str, data: tuple[torch.Tensor, torch.Tensor, int]) -> None:
    x, classes, cut = data
    whole, left, right = of(kind, x, classes), of(kind, x[:cut], classes[:cut]), of(kind, x[cut:], classes[cut:])
    same(left + right, whole)
    same(right + left, whole)
    same(left.plus(x[cut:], classes[cut:]), whole)
    same(left, of(kind, x[:cut], classes[:cut]))  # a value: adding to it gives another one


@kinds
@given(examples())
@settings(deadline=None)
def test_what_is_taken_out_was_never_there(kind: str, data: tuple[torch.Tensor, torch.Tensor, int]) -> None:
    x, classes, cut = data
    same(of(kind, x, classes).plus(x[cut:], classes[cut:], sign=-1), of(kind, x[:cut], classes[:cut]))


@kinds
@given(examples(), st.permutations(range(N_CLASSES)))
@settings(deadline=None)
def test_moving_classes_is_relabelling(
    kind: str, data: tuple[torch.Tensor, torch.Tensor, int], order: list[int]
) -> None:
    x, classes, _ = data
    places = torch.tensor(order)
    moved = of(kind, x, classes).at(torch.arange(N_CLASSES), places, N_CLASSES)
    same(moved, of(kind, x, places[classes]))


@kinds
@given(examples())
@settings(deadline=None)
def test_saving_keeps_everything(kind: str, data: tuple[torch.Tensor, torch.Tensor, int]) -> None:
    x, classes, _ = data
    statistic = of(kind, x, classes)
    loaded = empty(kind).loaded(statistic.tensors())
    same(loaded, statistic)
    same(loaded.plus(x, classes), statistic.plus(x, classes))


@given(examples())
@settings(deadline=None)
def test_moments_are_the_textbook_moments(data: tuple[torch.Tensor, torch.Tensor, int]) -> None:
    x, classes, cut = data
    moments = of("shared", x[:cut], classes[:cut]) + of("shared", x[cut:], classes[cut:])
    scatter = torch.zeros(N_FEATURES, N_FEATURES, dtype=torch.float64)
    for c in range(N_CLASSES):
        rows = x[classes == c]
        assert int(moments.counts[c]) == len(rows)
        if len(rows):
            assert_close(moments.means[c], rows.mean(0), rtol=1e-9, atol=1e-9)
            scatter += (rows - rows.mean(0)).mT @ (rows - rows.mean(0))
    assert_close(moments.covariance(), scatter / len(x), rtol=1e-9, atol=1e-8)
    assert moments.mean_square() == pytest.approx(float(x.square().sum(1).mean()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("spread", ["shared", "class", "diagonal"])
def test_a_far_away_origin_costs_no_digits(spread: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, N_FEATURES, generator=generator, dtype=torch.float64)
    classes = torch.arange(400) % N_CLASSES
    near, far = of(spread, x, classes), empty(spread)
    for rows in torch.arange(400).split(7):
        far = far.plus(x[rows] + 1e6, classes[rows])
    assert_close(far.covariance(), near.covariance(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("rows", "n_kept"),
    [
        ([[0, 0, 1], [1, 1, 0], [2**24, 1, 1], [0, 1, 1], [1, 1, 1], [1, 1, 1]], 4),
        ([[0, 2**24, 0], [1, 1, 2**24], [1, 0, 1], [2**24, 1, 1], *[[1, 1, 1]] * 5], 4),
    ],
)
def test_faint_rows_beside_strong_ones_are_taken_out_exactly(rows: list[list[int]], n_kept: int) -> None:
    """Their Gram matrix is below the rounding of the strong ones'; their class sums are not."""
    x, classes = torch.tensor(rows).double() * 2.0**-24, torch.zeros(len(rows), dtype=torch.int64)
    left = of("directions", x, classes).plus(x[n_kept:], classes[n_kept:], sign=-1)
    assert_close(left.sums, of("directions", x[:n_kept], classes[:n_kept]).sums, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kept", ["triangle", "directions", "both"])
def test_what_a_regression_is_off_on_others_is_foreseen(kept: str) -> None:
    """Generalised cross-validation by random signs is that by eigenvalues, and what rows that come later show."""
    drawn, ridge = torch.Generator().manual_seed(0), 1.0
    features = RandomProjection(20, 300, "relu", 0, "test", dtype=torch.float64)
    n = {"triangle": 600, "directions": 140, "both": 640}[kept]
    classes = torch.randint(5, (n + 4000,), generator=drawn)
    means = torch.randn(5, 20, generator=drawn, dtype=torch.float64)
    x = means[classes] + torch.randn(n + 4000, 20, generator=drawn, dtype=torch.float64)
    gram = ClassGram(features, dtype=torch.float64).at(*nothing("cpu"), 5)
    if kept == "both":
        gram = gram.plus(x[:600], classes[:600])
        gram.solve(ridge=ridge)  # what comes now is kept beside what was solved
        gram = gram.plus(x[600:n], classes[600:n])
        assert gram.triangle is not None
        assert len(gram.directions)
    else:
        gram = gram.plus(x[:n], classes[:n])
        assert (gram.triangle is None) == (kept == "directions")
    weights, z = gram.solve(ridge=ridge), features(x)
    off = (torch.nn.functional.one_hot(classes, 5) - z @ weights).square().sum(1)
    energies = torch.linalg.eigvalsh(z[:n].mT @ z[:n]).clamp_min(0)
    left = 1 - float((energies / (energies + ridge)).sum()) / n
    found = gram.held_out_error(weights, ridge=ridge)
    if left < 1 / 4:
        assert found is None
    else:
        assert found == pytest.approx(float(off[:n].mean()) / left**2, rel=0.05)
        assert found == pytest.approx(float(off[n:].mean()), rel=0.25)
