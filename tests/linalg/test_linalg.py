import pytest
import torch
from torch.testing import assert_close

from anacp.errors import NumericalError
from anacp.linalg import (
    add_gram_,
    cholesky_factor,
    largest_eigenvalue,
    low_rank_factor,
    pack_triangle,
    solve_psd,
    spectrum_psd,
    symmetric_product,
    symmetric_roots,
    unpack_triangle,
)


def normal(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


@pytest.mark.parametrize("size", [1, 7, 500, 1203])
def test_gram_is_right_below_the_diagonal(size: int) -> None:
    rows, gram = normal(9, size), torch.zeros(size, size, dtype=torch.float64)
    add_gram_(gram, rows)
    add_gram_(gram, rows[:4])
    add_gram_(gram, rows[:4], sign=-1)
    assert_close(gram.tril(), (rows.mT @ rows).tril())


def test_packing_is_lossless() -> None:
    matrix = normal(6, 6)
    assert_close(unpack_triangle(pack_triangle(matrix), 6), matrix.tril(), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_solve_reads_the_lower_triangle_only(dtype: torch.dtype) -> None:
    rows, b = normal(30, 12, dtype=dtype), normal(12, 3, dtype=dtype)
    a = rows.mT @ rows
    expected = torch.linalg.solve(a + 2.5 * torch.eye(12, dtype=dtype), b)
    garbage = a.tril() + torch.full_like(a, 1e9).triu(1)
    before = garbage.clone()
    assert_close(solve_psd(garbage, b, shift=2.5), expected)
    assert_close(garbage, before, rtol=0, atol=0)


def test_float32_falls_back_to_float64() -> None:
    """A Hilbert matrix of 12 rows is positive definite, but not in float32."""
    index = torch.arange(12, dtype=torch.float64)
    a = (1 / (index[:, None] + index + 1)).float()
    a.diagonal().add_(1e-7)
    assert torch.linalg.cholesky_ex(a - 1e-7 * torch.eye(12))[1] > 0
    solution = solve_psd(a, torch.ones(12, 1), shift=1e-8)
    assert solution.dtype == torch.float32
    assert torch.isfinite(solution).all()


def test_failure_says_what_to_do() -> None:
    with pytest.raises(NumericalError, match="Raise `ridge`"):
        solve_psd(-torch.eye(3, dtype=torch.float64), torch.ones(3, 1, dtype=torch.float64), shift=0.5)
    with pytest.raises(NumericalError, match="not positive definite"):
        cholesky_factor(-torch.eye(3))


def test_roots_of_a_singular_matrix() -> None:
    factor = normal(5, 3)
    a = factor @ factor.mT
    root, inverse = symmetric_roots(a)
    assert_close(root @ root, a)
    assert_close(inverse @ inverse, torch.linalg.pinv(a, hermitian=True), rtol=1e-6, atol=1e-9)
    zero, inverse_of_zero = symmetric_roots(torch.zeros(2, 2))
    assert not zero.any()
    assert not inverse_of_zero.any()


@pytest.mark.parametrize(("size", "rank"), [(40, 40), (900, 30), (1300, 600), (7, 0)])
def test_eigenvalues_of_low_and_full_rank(size: int, rank: int) -> None:
    rows = normal(rank, size)
    a = rows.mT @ rows
    lower = a.tril() + torch.full_like(a, 1e9).triu(1)
    beside = normal(3, rank) @ rows
    factor, coordinates = low_rank_factor(lower, beside)
    assert factor.shape == (size, rank)
    assert_close(factor @ factor.mT, a, rtol=1e-9, atol=1e-9)
    assert_close(coordinates @ factor.mT, beside, rtol=1e-7, atol=1e-7)
    values, sums = spectrum_psd(lower, beside)
    expected, vectors = (part[..., size - rank :] for part in torch.linalg.eigh(a))
    assert_close(values, expected, rtol=1e-9, atol=1e-9)
    assert_close(sums.abs(), (beside @ vectors).abs(), rtol=1e-6, atol=1e-6)  # vectors have no sign
    columns = normal(size, 3)
    assert_close(symmetric_product(lower, columns), a @ columns, rtol=1e-9, atol=1e-7)
    largest = float(torch.linalg.eigvalsh(a)[-1])
    assert 0.9 * largest <= largest_eigenvalue(lower) <= largest * (1 + 1e-9)


def test_small_eigenvalues_beside_a_huge_one_survive_float32() -> None:
    rows = normal(300, 1200).relu()  # positive features: their mean direction outweighs everything else
    gram, sums = rows.mT @ rows, rows[:100].sum(0)
    values, inside = spectrum_psd(gram.float(), sums[None].float())
    assert len(values) == 300
    factor, coordinates = low_rank_factor(gram.float(), sums[None].float())
    for ridge in (1e1, 1e3, 1e5):
        expected = torch.linalg.solve(gram + ridge * torch.eye(1200), sums)
        factored = factor @ solve_psd(factor.mT @ factor, coordinates.mT.contiguous(), shift=ridge)
        assert_close(factored[:, 0].double(), expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))
        assert_close((inside.square() / (values + ridge)).sum().double(), sums @ expected, rtol=1e-3, atol=0)
