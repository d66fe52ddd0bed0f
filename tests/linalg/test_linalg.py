import pytest
import torch
from torch.testing import assert_close

from anacp.errors import NumericalError
from anacp.linalg import (
    Triangle,
    cholesky_factor,
    largest_eigenvalue,
    low_rank_factor,
    solve_psd,
    spectrum_psd,
    symmetric_roots,
    unit_rows,
)


def normal(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


def triangle(matrix: torch.Tensor) -> Triangle:
    """A matrix as its lower triangle, with garbage where nothing should be read."""
    size = len(matrix)
    made = Triangle.unpacked(matrix[tuple(torch.tril_indices(size, size))], size)
    for strip in made.strips:
        start = strip.shape[1] - len(strip)
        strip[:, start:] += torch.full_like(strip[:, start:], 1e9).triu(1)
    return made


@pytest.mark.parametrize("size", [1, 7, 500, 1203])
def test_gram_is_right_below_the_diagonal(size: int) -> None:
    rows = normal(9, size)
    gram = Triangle.gram(rows)
    copied = gram.copy()
    gram.add_gram_(rows[:4])
    gram.add_gram_(rows[:4], sign=-1)
    expected = rows.mT @ rows
    for found in (gram, copied):
        assert_close(found.symmetric(), expected)
    assert_close(gram.diagonal(), expected.diagonal())
    assert_close((gram + gram).scaled(0.25).symmetric(), expected / 2)
    assert len(gram) == size
    assert_close(triangle(expected).symmetric(), expected)


@pytest.mark.parametrize("size", [6, 700])
def test_packing_is_lossless(size: int) -> None:
    matrix = normal(size, size)
    packed = triangle(matrix).packed()
    assert_close(packed, matrix[tuple(torch.tril_indices(size, size))], rtol=0, atol=0)
    assert_close(Triangle.unpacked(packed, size).dense().tril(), matrix.tril(), rtol=0, atol=0)
    assert triangle(matrix).to("meta").packed().shape == packed.shape


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_solve_reads_the_lower_triangle_only(dtype: torch.dtype) -> None:
    rows, b = normal(30, 12, dtype=dtype), normal(12, 3, dtype=dtype)
    a = rows.mT @ rows
    expected = torch.linalg.solve(a + 2.5 * torch.eye(12, dtype=dtype), b)
    garbage = triangle(a)
    before = garbage.dense()
    assert_close(solve_psd(garbage, b, shift=2.5), expected)
    assert_close(garbage.dense(), before, rtol=0, atol=0)


def test_float32_falls_back_to_float64() -> None:
    """A Hilbert matrix of 12 rows is positive definite, but not in float32."""
    index = torch.arange(12, dtype=torch.float64)
    a = (1 / (index[:, None] + index + 1)).float()
    a.diagonal().add_(1e-7)
    assert torch.linalg.cholesky_ex(a - 1e-7 * torch.eye(12))[1] > 0
    solution = solve_psd(triangle(a), torch.ones(12, 1), shift=1e-8)
    assert solution.dtype == torch.float32
    assert torch.isfinite(solution).all()


def test_failure_says_what_to_do() -> None:
    with pytest.raises(NumericalError, match="Raise `ridge`"):
        solve_psd(triangle(-torch.eye(3, dtype=torch.float64)), torch.ones(3, 1, dtype=torch.float64), shift=0.5)
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
    lower = triangle(a)
    beside = normal(3, rank) @ rows
    factor, coordinates = low_rank_factor(lower, beside)
    assert factor.shape == (size, rank)
    assert_close(factor @ factor.mT, a, rtol=1e-9, atol=1e-9)
    assert_close(coordinates @ factor.mT, beside, rtol=1e-7, atol=1e-7)
    values, power = spectrum_psd(lower, beside)
    expected, vectors = (part[..., size - rank :] for part in torch.linalg.eigh(a))
    assert_close(values, expected, rtol=1e-9, atol=1e-9)
    assert_close(power, (beside @ vectors).square().sum(0), rtol=1e-6, atol=1e-6)
    columns = normal(size, 3)
    assert_close(lower.times(columns), a @ columns, rtol=1e-9, atol=1e-7)
    largest = float(torch.linalg.eigvalsh(a)[-1])
    assert 0.9 * largest <= largest_eigenvalue(lower) <= largest * (1 + 1e-9)


def test_small_eigenvalues_beside_a_huge_one_survive_float32() -> None:
    rows = normal(300, 1200).relu()  # positive features: their mean direction outweighs everything else
    gram, sums = rows.mT @ rows, rows[:100].sum(0)
    lower = triangle(gram.float())
    values, power = spectrum_psd(lower, sums[None].float())
    assert len(values) == 300
    factor, coordinates = low_rank_factor(lower, sums[None].float())
    for ridge in (1e1, 1e3, 1e5):
        expected = torch.linalg.solve(gram + ridge * torch.eye(1200), sums)
        factored = factor @ solve_psd(Triangle.gram(factor), coordinates.mT.contiguous(), shift=ridge)
        assert_close(factored[:, 0].double(), expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))
        assert_close((power / (values + ridge)).sum(), sums @ expected, rtol=1e-3, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_unit_rows_are_of_length_one_at_every_scale(dtype: torch.dtype) -> None:
    rows = torch.randn(40, 7, generator=torch.Generator().manual_seed(0), dtype=dtype)
    unit = unit_rows(rows)
    assert torch.equal(unit, torch.nn.functional.normalize(rows, dim=1))
    for power in (-120, -90, -50, 50, 90, 120):
        assert_close(unit_rows(torch.ldexp(rows, torch.tensor(power))), unit)
    mixed = torch.cat([rows[:1] * 1e-30, rows[1:2], rows[2:3] * 1e30, torch.zeros(1, 7, dtype=dtype)])
    assert_close(unit_rows(mixed), torch.cat([unit[:3], torch.zeros(1, 7, dtype=dtype)]))
