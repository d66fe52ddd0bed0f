"""Among many classes: as with matrices of classes by classes, in a memory that does not grow with them."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import anacp
from anacp.learners.ridge_choice import solve_ridge
from anacp.linalg import cholesky_factor, symmetric_roots
from anacp.projections import separation_signs, target_prototypes
from anacp.replay import Readout, adapted_gaussians, expected, expected_gram
from tests.conftest import blobs
from tests.learners import peaks

MB = 1_000_000
CLASSES = 8000
# Beside the result. A matrix of classes by classes would have 256 MB in float32.
SOLVING = {"AnaCP": 60, "drawn": 60, "Ridge": 30, "RanPAC": 60, "NCM": 20, "SLDA": 20}
PREDICTING, JUDGING = 60, 60
DRAWN = 1500 * CLASSES * 4 / MB  # scores of the draws that set probabilities and thresholds


@pytest.mark.skipif(not peaks.CLEAR.exists(), reason="needs a system that tells the peak of memory")
@pytest.mark.parametrize("name", peaks.LEARNERS)
def test_memory_beside_the_result_does_not_grow_with_classes(name: str) -> None:
    limits = {"solve": SOLVING[name], "predict": PREDICTING, "settle": 2 * DRAWN + 120, "judge": JUDGING}
    least = dict.fromkeys(limits, float("inf"))
    for _ in range(3):  # what an allocator keeps for later only adds
        found = measured(name)
        assert found["right"] > 0.9
        least = {what: min(least[what], found[what] / MB) for what in limits}
        if all(least[what] < limit for what, limit in limits.items()):
            return
    pytest.fail(f"expected less than {limits} MB, got {least}")


def measured(name: str) -> dict[str, float]:
    command = [sys.executable, peaks.__file__, name, str(CLASSES)]
    root = Path(__file__).resolve().parents[2]
    printed = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)
    assert printed.returncode == 0, printed.stderr
    return dict(json.loads(printed.stdout.splitlines()[-1]))


@pytest.mark.parametrize("targets", ["paper", "reference"])
def test_target_prototypes_are_those_of_the_formulas(targets: str) -> None:
    generator = torch.Generator().manual_seed(0)
    means = torch.randn(1300, 12, generator=generator, dtype=torch.float64) + 0.3
    noise = torch.randn(50, 12, generator=generator, dtype=torch.float64)
    covariance = noise.mT @ noise / 50
    centre = means.mean(0) if targets == "reference" else torch.zeros(12, dtype=torch.float64)
    factor, centred = cholesky_factor(covariance), means - centre
    whitened = torch.linalg.solve_triangular(factor, centred.mT, upper=False)
    inner = whitened.mT @ whitened
    root, inverse = symmetric_roots(inner)
    if targets == "paper":
        wanted = means + 2.0 * separation_signs(inner, root)[:, None] * (inverse @ means)
    else:
        separated = torch.cholesky_solve((centred + 2.0 * inverse @ centred).mT, factor).mT + centre
        wanted = separated / separated.norm(dim=1, keepdim=True)
    found = target_prototypes(means, covariance, targets=targets, repulsion=2.0)
    torch.testing.assert_close(found, wanted, rtol=1e-7, atol=1e-9)


def test_replay_is_the_same_in_blocks_of_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = anacp.AnaCP(n_projected=60, n_heads=2, dtype="float64").partial_fit(*blobs(n_classes=40, n_rows=10)).solve()
    solution, memory = model._knowledge.solved.solution, model._knowledge.memory
    assert solution.heads[0].shape == (60, 8)
    adapted = adapted_gaussians(memory.moments, model._contrastive(solution), seed=0)
    readout = Readout(solution.drawn.matrix, "gelu")
    whole = expected_gram(adapted, readout, n_replay=20)
    monkeypatch.setattr(expected, "BLOCK_ROWS", 7)
    monkeypatch.setattr(expected, "row_blocks", lambda n: (slice(a, min(a + 7, n)) for a in range(0, n, 7)))
    parted = expected_gram(
        adapted_gaussians(memory.moments, model._contrastive(solution), seed=0), readout, n_replay=20
    )
    torch.testing.assert_close(parted.gram.symmetric(), whole.gram.symmetric(), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(parted.sums, whole.sums, rtol=1e-9, atol=1e-9)


def test_familiarity_is_the_same_by_features_and_by_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    from anacp.learners import unknown

    x, y = blobs(n_classes=40, n_rows=10)
    for learner in (anacp.NCM(dtype="float64"), anacp.SLDA(dtype="float64")):
        learner.partial_fit(x, y)
        found = learner.familiarity(x, by="distance")
        assert learner._knowledge.solved.familiarity.background.shape == (9, 8)
        with monkeypatch.context() as patch:
            patch.setattr(unknown, "_of_many_classes", unknown._of_few_classes)
            by_class = type(learner)(dtype="float64").partial_fit(x, y)
            assert abs(by_class.familiarity(x, by="distance") - found).max() < 1e-8
            assert by_class._knowledge.solved.familiarity.background.shape == (40, 40)


def test_heads_by_class_of_earlier_files_are_still_read(tmp_path: Path) -> None:
    x, y = blobs(n_classes=20, n_rows=10)
    model = anacp.AnaCP(n_projected=60, n_heads=2, dtype="float64").partial_fit(x, y).solve(unknown=True)
    known, expected = model._knowledge, model.scores(x)
    prototypes = model._prototypes(known.memory)
    former = replace(
        known.solved.solution,
        heads=tuple(solve_ridge(known.memory.statistics, f"head {h}", 100.0)[0] for h in range(2)),
        prototypes=prototypes,
        readout=known.solved.solution.drawn.linear(prototypes),
    )
    shapes = {name: tuple(one.shape) for name, one in former.tensors().items()}
    assert shapes == {name: tuple(one.shape) for name, one in model._former_outline(8, 20).items()}
    known.solved = replace(known.solved, solution=former)
    model.save(tmp_path / "former.anacp")
    loaded = anacp.load(tmp_path / "former.anacp")
    assert loaded._knowledge.solved.solution.heads[0].shape == (60, 20)
    assert abs(loaded.scores(x) - expected).max() < 1e-9
    loaded.save(tmp_path / "again.anacp")
    assert abs(anacp.load(tmp_path / "again.anacp").scores(x) - expected).max() < 1e-9


def test_of_more_classes_than_draws_some_are_drawn() -> None:
    from anacp.learners.calibration import mixed_draws

    x, y = blobs(n_classes=50, n_rows=4)
    moments = anacp.SLDA().partial_fit(x, y).solve()._knowledge.memory.moments
    draws = mixed_draws(moments, 20, seed=0)
    assert len(draws.rows) == 20
    assert len(set(draws.first.tolist())) == 20
    assert (draws.first != draws.second).all()
