"""Files in fewer bits: small, and as good as their bound says, however often they are written and learned on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import anacp
from anacp.errors import ModelFileError, NumericalError
from anacp.files import TensorFile, write_tensors
from anacp.learners import MODEL, contents, model_file
from anacp.linalg import Triangle
from anacp.projections import RandomProjection, StructuredProjection
from anacp.statistics import (
    LARGEST_EFFECT,
    LARGEST_LEFT,
    ClassGram,
    ClassMoments,
    CodingError,
    coded,
    coding,
    decoded,
    is_coded,
    nothing,
)

N_FEATURES, N_CLASSES, N_PROJECTED = 16, 8, 60
# What rounding in 16 bits does to directions, and in float32 to anything.
ROUNDING = 1e-3


def gaussians(n: int, *, d: int = N_FEATURES, c: int = N_CLASSES, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    means = np.random.default_rng(7).normal(size=(c, d))
    y = np.arange(n) % c
    return (means[y] + random.normal(size=(n, d))).astype(np.float32), y


@pytest.fixture
def all_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code what is small, too."""
    monkeypatch.setattr(coding, "WORTHWHILE", 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.anacp"


def made(**parameters: Any) -> anacp.AnaCP:
    return anacp.AnaCP(**{"n_projected": N_PROJECTED, "n_heads": 2, "ridge": 30.0} | parameters)


def again(model: anacp.AnaCP, path: Path, **options: Any) -> anacp.AnaCP:
    model.save(path, **options)
    return anacp.load(path)


def names(path: Path) -> dict[str, Any]:
    return {name.rpartition(".")[2]: None for name in TensorFile(path, MODEL).sizes()}


def heads(model: anacp.AnaCP) -> list[Tensor]:
    """The weights of each head, of all that was learned."""
    return list(model.solve()._knowledge.solved.solution.heads)


def effects(model: anacp.AnaCP) -> list[float]:
    statistics = model._knowledge.memory.absorbed().statistics
    return [statistics[f"head {h}"].coding.effect for h in range(model.n_heads)]


def check_bound(model: anacp.AnaCP, exact: anacp.AnaCP, *, largest: float = LARGEST_EFFECT) -> None:
    """Weights lie no further from the exact ones than the estimate says, which is within what is promised."""
    for one, other, effect in zip(heads(model), heads(exact), effects(model), strict=True):
        moved = float((one - other).norm() / other.norm())
        assert effect <= largest
        assert moved <= 1.5 * effect + ROUNDING
    x, _ = gaussians(400, seed=99)
    scores, expected = model.scores(x), exact.scores(x)
    assert np.sqrt(np.square(scores - expected).mean() / np.square(expected).mean()) <= largest / 2


@pytest.mark.usefixtures("all_coded")
@pytest.mark.parametrize("projection", ["structured", "gaussian"])
@pytest.mark.parametrize("n", [24, 400, 4000])
def test_a_coded_file_gives_back_the_model_within_its_bound(path: Path, n: int, projection: str) -> None:
    x, y = gaussians(n)
    exact = made(projection=projection).partial_fit(x, y)
    loaded = again(exact, path)
    assert is_coded(names(path))
    check_bound(loaded, exact)
    more, labels = gaussians(300, seed=1)
    check_bound(loaded.partial_fit(more, labels), exact.partial_fit(more, labels))


@pytest.mark.usefixtures("all_coded")
@pytest.mark.parametrize("n", [24, 400])
def test_exact_files_are_the_same_to_the_bit(path: Path, n: int) -> None:
    x, y = gaussians(n)
    model = made().partial_fit(x, y)
    loaded = again(model, path, exact=True)
    assert not is_coded(names(path))
    for (name, one), other in zip(contents(model)[1].items(), contents(loaded)[1].values(), strict=True):
        assert torch.equal(one, other), name
    np.testing.assert_array_equal(loaded.scores(x), model.scores(x))


@pytest.mark.usefixtures("all_coded")
@pytest.mark.parametrize("parameters", [{"ridge": "gcv"}, {"dtype": "float64"}, {"covariance": "class"}])
def test_what_has_no_bound_is_stored_exactly(path: Path, parameters: dict[str, Any]) -> None:
    x, y = gaussians(400)
    made(**parameters).partial_fit(x, y).save(path)
    assert not is_coded(names(path))


@pytest.mark.usefixtures("all_coded")
def test_what_would_move_too_much_is_stored_exactly(path: Path) -> None:
    x, y = gaussians(2000, d=3)
    model = made(ridge=0.1).partial_fit(x, y)
    loaded = again(model, path)
    assert not is_coded(names(path))
    np.testing.assert_array_equal(loaded.scores(x), model.scores(x))


@pytest.mark.usefixtures("all_coded")
@pytest.mark.parametrize("scale", [1e-12, 1e15])
def test_features_of_any_size_can_be_saved(path: Path, scale: float) -> None:
    x, y = gaussians(24)
    model = made(normalize=False).partial_fit(scale * x, y)
    np.testing.assert_allclose(again(model, path).scores(scale * x), model.scores(scale * x), rtol=1e-2, atol=1e-2)


@pytest.mark.usefixtures("all_coded")
@pytest.mark.parametrize("n", [24, 400])
@pytest.mark.parametrize("seed", range(3))
def test_twenty_files_later_the_bound_still_holds(path: Path, n: int, seed: int) -> None:
    """Learn, unlearn, merge, save and load in turn; the error adds up as the estimate says."""
    x, y = gaussians(n, seed=seed)
    model, exact = made().partial_fit(x, y), made().partial_fit(x, y)
    for step in range(20):
        model = again(model, path, exact=step % 7 == 6)
        check_bound(model, exact)
        more, labels = gaussians(30, seed=100 * seed + step + 1)
        if step % 3 == 2:
            model, exact = (one + made().partial_fit(more, labels) for one in (model, exact))
        else:
            model, exact = (one.partial_fit(more, labels) for one in (model, exact))
        gone = slice(step, step + 1) if step % 4 else slice(0, 0)
        if len(more[gone]):
            model, exact = (one.unlearn(more[gone], labels[gone]) for one in (model, exact))
        check_bound(model, exact, largest=LARGEST_LEFT)
    if n > N_PROJECTED:  # where there are codes at all, the estimate is no wild guess
        moved = max(float((a - b).norm() / b.norm()) for a, b in zip(heads(model), heads(exact), strict=True))
        assert max(effects(model)) <= 10 * moved


@pytest.mark.usefixtures("all_coded")
def test_the_same_directions_are_coded_once(path: Path) -> None:
    x, y = gaussians(24)
    once = again(made().partial_fit(x, y), path)
    twice = again(once, path)
    np.testing.assert_allclose(twice.scores(x), once.scores(x), atol=1e-6)


@pytest.mark.usefixtures("all_coded")
def test_a_photo_and_a_class_can_be_unlearned(path: Path) -> None:
    x, y = gaussians(800)
    loaded = again(made().partial_fit(x, y), path)
    gone = (y == 3) | (np.arange(len(y)) == 0)
    loaded.unlearn(x[:1], y[:1]).unlearn(x[y == 3], y[y == 3])
    check_bound(loaded, made().partial_fit(x[~gone], y[~gone]), largest=LARGEST_LEFT)


@pytest.mark.usefixtures("all_coded")
def test_unlearning_nearly_everything_is_refused_and_changes_nothing(path: Path) -> None:
    x, y = gaussians(4000)
    parameters = {"ridge": 1.0, "n_heads": 1}
    loaded = again(made(**parameters).partial_fit(x, y), path)
    assert is_coded(names(path))
    before = contents(loaded)[1]
    with pytest.raises(NumericalError, match=r"stored in fewer bits.*`fit`.*exact=True; nothing has changed"):
        loaded.unlearn(x[100:], y[100:])
    assert all(torch.equal(tensor, before[name]) for name, tensor in contents(loaded)[1].items())
    left = made(**parameters).partial_fit(x, y).unlearn(x[100:], y[100:])  # of the exact one, nothing is in the way
    assert left._knowledge.memory.moments.n == 100


@pytest.mark.usefixtures("all_coded")
def test_a_smaller_ridge_than_the_error_bears_is_refused(path: Path) -> None:
    x, y = gaussians(400, d=3)
    loaded = again(made().partial_fit(x, y), path).set_params(ridge=1e-6)
    with pytest.raises(NumericalError, match="stored in fewer bits"):
        loaded.predict(x)
    loaded.set_params(ridge=30.0).predict(x)


@pytest.mark.usefixtures("all_coded")
def test_nothing_is_left_of_the_error_when_nothing_is_left(path: Path) -> None:
    x, y = gaussians(400)
    loaded = again(made().partial_fit(x, y), path)
    gram = loaded._knowledge.memory.statistics["head 0"]
    prepared = torch.nn.functional.normalize(torch.from_numpy(x))
    assert gram.coding.variance > 0
    assert gram.plus(prepared, torch.from_numpy(y), sign=-1).coding == CodingError()


@given(
    st.integers(1, 9),
    st.integers(1, 20),
    st.integers(2, 90),
    st.integers(2, 150),
    st.sampled_from(["gelu", "relu", "tanh", "identity"]),
    st.sampled_from([RandomProjection, StructuredProjection]),
    st.floats(-6, 6),
)
@settings(deadline=None, max_examples=60)
def test_codes_of_any_shape_are_as_far_off_as_they_say(
    c: int, d: int, m: int, n: int, activation: Any, kind: Any, exponent: float
) -> None:
    x, y = gaussians(n, d=d, c=c, seed=m)
    rows, classes = torch.from_numpy(x) * 10.0**exponent, torch.from_numpy(y)
    present = torch.unique(classes)
    features = kind(d, m, activation, 0, "test")
    empty = ClassGram(features)
    gram = empty.at(*nothing("cpu"), len(present)).plus(rows, classes)
    moments = ClassMoments(d).at(*nothing("cpu"), len(present)).plus(rows, classes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coding, "WORTHWHILE", 0)
        parts = coded(gram, moments, 100.0)
        of_moments = coded(moments, moments, None)
        if parts is not None:
            sizes = {name: tuple(tensor.shape) for name, tensor in parts.items()}
            outlines = coding.outlines(empty, len(present), sizes)
            assert {k: (v.dtype, v.shape) for k, v in outlines.items()} == {
                k: (v.dtype, v.shape) for k, v in parts.items()
            }
    if of_moments is not None:
        back = decoded(ClassMoments(d), of_moments, lambda: moments)
        size = float(moments.variances().max())
        torch.testing.assert_close(back.covariance(), moments.covariance(), rtol=1e-12, atol=1e-12 * size)
    if parts is None:
        return
    back = decoded(empty, parts, lambda: moments)
    assert isinstance(back, ClassGram)
    assert torch.equal(back.counts, gram.counts)
    lost = (back.gram.symmetric() - gram.gram.symmetric()).double()
    deviation = float(lost.square().mean().sqrt())
    rounding = 1e-6 * float(gram.energy) / m
    assert deviation <= 1.5 * back.coding.variance**0.5 + rounding
    scale = float(gram.sums.abs().max())
    assert float((back.sums - gram.sums).abs().max()) <= 0.02 * scale
    if gram.triangle is not None:
        assert torch.equal(back.gram.diagonal(), gram.gram.diagonal())


# Sizes -----------------------------------------------------------------------------------------------------------


def test_a_model_that_goes_on_learning_takes_45_megabytes(path: Path) -> None:
    """One head stands for three; the size does not depend on the rows once there is a triangle."""
    x, y = gaussians(2600, d=768, c=200)
    anacp.AnaCP(n_heads=1).partial_fit(x, y).save(path)
    file = TensorFile(path, MODEL)
    outlines = file.outlines()
    sizes = {name: one.numel() * one.element_size() for name, one in outlines.items()}
    head = sum(size for name, size in sizes.items() if name.startswith("head 0."))
    assert path.stat().st_size + 2 * head <= 45e6


def test_a_model_of_84_photos_takes_6_megabytes_with_its_solution(path: Path) -> None:
    x, y = gaussians(84, d=1280, c=12)
    model = anacp.AnaCP().partial_fit(x, y).solve(probabilities=True)
    loaded = again(model, path)
    assert path.stat().st_size < 6e6
    assert "solution" in TensorFile(path, MODEL).header
    np.testing.assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))
    more, labels = gaussians(12, d=1280, c=12, seed=1)
    model, loaded = (one.partial_fit(more, labels) for one in (model, loaded))
    np.testing.assert_allclose(loaded.scores(x), model.scores(x), atol=1e-3)


@pytest.mark.usefixtures("all_coded")
def test_a_large_solution_is_left_out_unless_it_is_wanted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = gaussians(400)
    model = made().partial_fit(x, y).solve()
    monkeypatch.setattr(model_file, "LARGEST_SOLUTION", 0)
    for options, kept in (
        ({}, False),
        ({"solution": True}, True),
        ({"solution": False, "exact": True}, False),
        ({"exact": True}, True),
    ):
        model.save(path, **options)
        assert ("solution" in TensorFile(path, MODEL).header) is kept
        assert anacp.load(path).predict(x).shape == y.shape


@pytest.mark.usefixtures("all_coded")
def test_a_solved_file_predicts_without_decoding(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = gaussians(400)
    model = made().partial_fit(x, y).solve()
    model.save(path)
    monkeypatch.setattr(coding, "decoded_triangle", lambda *_: pytest.fail("decoded"))
    np.testing.assert_array_equal(anacp.load(path).scores(x), model.scores(x))


# Refusals --------------------------------------------------------------------------------------------------------


def rewritten(path: Path, **tensors: Tensor | None) -> None:
    """Write the file again with other tensors of the first head, and digests that are right."""
    file = TensorFile(path, MODEL)
    header = {key: value for key, value in file.header.items() if key != "written_by"}
    named = file.tensors() | {f"head 0.{name}": one for name, one in tensors.items()}
    write_tensors(path, MODEL, header, {name: one for name, one in named.items() if one is not None})


PAIRS = N_PROJECTED * (N_PROJECTED + 1) // 2


@pytest.mark.usefixtures("all_coded")
@pytest.mark.parametrize(
    ("n", "tensors", "message"),
    [
        (400, {"gram_scale": torch.tensor(-1.0)}, "gram_scale has a number below 0"),
        (400, {"gram_scale": torch.tensor(torch.nan)}, "gram_scale holds NaN"),
        (400, {"sums_scales": -torch.ones(N_CLASSES)}, "sums_scales has a number below 0"),
        (400, {"gram_diagonal": -torch.ones(N_PROJECTED)}, "gram_diagonal has a number below 0"),
        (400, {"coding": torch.tensor([-1.0, 1.0]).double()}, "coding has a number below 0"),
        (400, {"coding": torch.zeros(3).double()}, r"coding is F64 \[3\]"),
        (400, {"coding": None}, "it lacks 'head 0.coding'"),
        (400, {"gram_codes": torch.zeros(PAIRS)}, "gram_codes is F32"),
        (400, {"gram_codes": torch.zeros(PAIRS - 1, dtype=torch.int8)}, "gram_codes is I8"),
        (400, {"sums_codes": None}, "it lacks 'head 0.sums_codes'"),
        (400, {"gram": torch.zeros(PAIRS)}, "which nothing it says asks for"),
        (400, {"counts": torch.full((N_CLASSES,), 51)}, "counts other examples"),
        (24, {"directions_scales": -torch.ones(24)}, "is F32|below 0"),
        (24, {"directions_codes": torch.zeros(40, N_PROJECTED, dtype=torch.int16)}, "more than a triangle would take"),
        (24, {"directions_codes": torch.zeros(0, dtype=torch.int16)}, r"not F32 \[8, 0\]"),
        (24, {"gram_codes": torch.zeros(PAIRS, dtype=torch.int8)}, "which nothing it says asks for"),
    ],
)
def test_codes_that_cannot_be_are_refused(path: Path, n: int, tensors: dict[str, Any], message: str) -> None:
    x, y = gaussians(n)
    made().partial_fit(x, y).save(path)
    rewritten(path)
    anacp.load(path).solve()
    rewritten(path, **tensors)
    with pytest.raises(ModelFileError, match=message):
        anacp.load(path).solve()


def test_codes_beside_moments_that_predict_nothing_are_refused(path: Path) -> None:
    x, y = gaussians(400)
    anacp.RanPAC(n_projected=N_PROJECTED, ridge=1.0).partial_fit(x, y).save(path)
    file = TensorFile(path, MODEL)
    tensors = file.tensors()
    del tensors["gram.gram"], tensors["gram.sums"]
    tensors |= {
        "gram.gram_codes": torch.zeros(PAIRS, dtype=torch.int8),
        "gram.gram_scale": torch.tensor(1.0),
        "gram.gram_diagonal": torch.ones(N_PROJECTED),
        "gram.sums_codes": torch.zeros(N_CLASSES, N_PROJECTED, dtype=torch.int8),
        "gram.sums_scales": torch.ones(N_CLASSES),
        "gram.coding": torch.zeros(2).double(),
    }
    header = {key: value for key, value in file.header.items() if key not in ("written_by", "solution")}
    write_tensors(path, MODEL, header, tensors)
    with pytest.raises(ModelFileError, match="features that nothing is known of"):
        anacp.load(path).solve()


def test_a_scatter_has_a_factor_or_a_triangle(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = gaussians(24, d=80)
    exact = anacp.SLDA().partial_fit(x, y)
    monkeypatch.setattr(coding, "WORTHWHILE", 0)
    loaded = again(exact, path)
    assert TensorFile(path, MODEL).sizes("moments.")["scatter_factor"] == (24 - N_CLASSES, 80)
    np.testing.assert_allclose(loaded.scores(x), exact.scores(x), rtol=1e-5, atol=1e-5)
    file = TensorFile(path, MODEL)
    header = {key: value for key, value in file.header.items() if key not in ("written_by", "solution")}
    tensors = {name: one for name, one in file.tensors().items() if not name.startswith("solution.")}
    write_tensors(path, MODEL, header, tensors | {"moments.scatter": Triangle.zeros(80, dtype=torch.float64).packed()})
    with pytest.raises(ModelFileError, match="which nothing it says asks for"):
        anacp.load(path)
    for rank in (41, 1):  # more than a triangle takes, and a small file that asks for a large one
        write_tensors(path, MODEL, header, tensors | {"moments.scatter_factor": torch.zeros(rank, 80).double()})
        with pytest.raises(ModelFileError, match="too many or too few"):
            anacp.load(path)
