"""The contrastive targets against the paper's formulas, and the Lemma's promise."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from anacp.projections import separation_signs, target_prototypes


def problem(n_classes: int, n_features: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(3 * n_features, n_features, generator=generator, dtype=torch.float64)
    means = torch.randn(n_classes, n_features, generator=generator, dtype=torch.float64) + 0.3
    return means, rows.mT @ rows / len(rows)


def powers(covariance: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, vectors = torch.linalg.eigh(covariance)
    return vectors @ torch.diag(values.sqrt()) @ vectors.mT, vectors @ torch.diag(values.rsqrt()) @ vectors.mT


@pytest.mark.parametrize("n_classes", [1, 2, 5, 9])
@pytest.mark.parametrize("repulsion", [0.0, 0.5, 1.0])
def test_paper_targets_are_the_papers_equations(n_classes: int, repulsion: float) -> None:
    """Whiten, take the SVD, shift each class by α δ e, de-whiten: Eqs. 12 to 16 literally."""
    means, covariance = problem(n_classes, 9, seed=3)
    root, inverse_root = powers(covariance)
    u, s, vt = torch.linalg.svd(inverse_root @ means.mT, full_matrices=False)
    w, e = torch.diag(s) @ vt, vt
    delta = separation_signs(w.mT @ w, e.mT @ w)
    expected = (root @ u @ (w + repulsion * e * delta)).mT
    assert_close(target_prototypes(means, covariance, targets="paper", repulsion=repulsion), expected)


def test_reference_targets_are_the_released_codes_steps() -> None:
    means, covariance = problem(5, 9, seed=4)
    _, inverse_root = powers(covariance)
    centre = means.mean(0)
    u, s, vt = torch.linalg.svd(inverse_root @ (means - centre).mT, full_matrices=False)
    shifted = torch.where(s > 1e-8, s + 1.0, 0.0)  # centring makes the last direction void
    expected = (inverse_root @ u @ torch.diag(shifted) @ vt).mT + centre
    expected = expected / expected.norm(dim=1, keepdim=True)
    assert_close(target_prototypes(means, covariance, targets="reference", repulsion=1.0), expected)


def test_means_are_left_alone() -> None:
    means, covariance = problem(5, 9, seed=5)
    assert target_prototypes(means, covariance, targets="means", repulsion=1.0) is means


def test_signs_are_the_lemmas_sums() -> None:
    """The proof's sum, written out class by class."""
    means, _ = problem(6, 6, seed=6)
    w = means.mT
    e = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)).Q
    expected = []
    for i in range(6):
        total = 0.0
        for j in range(6):
            if j != i:
                inner = float(w[:, i] @ w[:, j])
                sign = 2 * (inner >= 0) - 1
                slope = sign * float(e[:, i] @ w[:, j]) * float(w[:, i] @ w[:, i])
                total += (slope - float(e[:, i] @ w[:, i]) * abs(inner)) / float(w[:, j].norm())
        expected.append(1.0 if total < 0 else -1.0 if total > 0 else 0.0)
    assert separation_signs(w.mT @ w, e.mT @ w).tolist() == expected


def total_cosine(w: torch.Tensor) -> float:
    unit = w / w.norm(dim=0)
    return float((unit.mT @ unit).abs().sum() - w.shape[1])


@given(st.integers(2, 8), st.integers(0, 10_000), st.sampled_from([-1.0, 0.0, 0.5, 2.0]))
@settings(deadline=None, max_examples=200)
def test_the_lemma_keeps_its_promise(n_classes: int, seed: int, offset: float) -> None:
    """For a small α the summed |cosine| between classes does not grow."""
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(n_classes, n_classes, generator=generator, dtype=torch.float64) + offset
    e = torch.linalg.qr(torch.randn(n_classes, n_classes, generator=generator, dtype=torch.float64)).Q
    delta = separation_signs(w.mT @ w, e.mT @ w)
    inner = w.mT @ w
    closest = inner.abs().min() / w.norm(dim=0).max()  # |·| has a kink where two classes are orthogonal
    alpha = min(1e-6, 1e-3 * float(closest))
    assert total_cosine(w + alpha * delta * e) <= total_cosine(w) + 1e-13
