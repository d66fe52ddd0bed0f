"""Laws that hold for every registered learner, in every setting listed here."""

import copy
import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import anacp
from anacp.errors import AnacpError, InputError, MismatchError, NotLearnedError, ParameterError
from anacp.learners import LEARNERS, AnaCP, Learner
from anacp.learners.memory import Memory
from tests.conftest import blobs

# Small sizes for learners whose defaults are large, and every branch.
SETTINGS: dict[str, list[dict[str, object]]] = {
    "AnaCP": [
        {"n_projected": 60, "n_heads": 2, "n_replay": 9, "ridge": 1.0, "classifier_ridge": 1.0} | extra
        for extra in (
            {},
            {"targets": "reference"},
            {"targets": "means"},
            {"covariance": "class"},
            {"classifier": "ncm"},
            {"n_heads": 0},
            {"n_heads": 0, "classifier": "ncm"},
            {"normalize": False, "activation": "relu", "ridge": 100.0, "classifier_ridge": 100.0},
            {"ridge": "squared error", "n_projected": 200, "n_replay": 30},
        )
    ],
    "ELM": [{"n_projected": 60, "ridge": 1.0}, {"n_projected": 60, "ridge": "accuracy", "normalize": False}],
    "FeCAM": [
        {},
        {"covariance": "shared", "shrinkage": 10.0, "off_diagonal_shrinkage": 10.0},
        {"correlation": False, "normalize": False},
    ],
    "GACL": [{"n_projected": 60, "ridge": 100.0}, {"n_projected": 60, "ridge": "gcv"}],
    "KLDA": [{"n_projected": 60, "gamma": 1e-2}, {"n_projected": 60, "gamma": 1e-2, "n_members": 2}],
    "LinearProbe": [{"n_epochs": 40}],
    "LoRanPAC": [{"n_projected": 60}],
    "RanPAC": [{"n_projected": 60}],
    "Ridge": [{}, {"ridge": "squared error"}],
    "SLDA": [{}, {"blend": True}],
}


def every_learner() -> list[Learner]:
    return [cls(**setting) for name, cls in LEARNERS.items() for setting in SETTINGS.get(name, [{}])]


# With so few rows a ridge at the edge of its grid is no surprise.
pytestmark = pytest.mark.filterwarnings("ignore::anacp.errors.RidgeEdgeWarning")
learners = pytest.mark.parametrize("learner", every_learner(), ids=repr)
TOLERANCE = {"float32": 2e-3, "float64": 1e-9}


@pytest.fixture(params=["float32", "float64"])
def model(learner: Learner, request: pytest.FixtureRequest) -> Learner:
    return clone(learner).set_params(dtype=request.param)


def same(a: Learner, b: Learner, x: np.ndarray) -> None:
    np.testing.assert_array_equal(a.classes_, b.classes_)
    np.testing.assert_allclose(a.decision_function(x), b.decision_function(x), atol=TOLERANCE[a.dtype])
    np.testing.assert_allclose(a.predict_proba(x), b.predict_proba(x), atol=TOLERANCE[a.dtype])


# In float64, which the tolerances of these checks are made for: in float32 a row's last digit depends on its place.
@parametrize_with_checks([clone(learner).set_params(dtype="float64") for learner in every_learner()])
def test_scikit_learn(estimator: Learner, check: object) -> None:
    check(estimator)


@learners
def test_learns(model: Learner) -> None:
    x, y = blobs(n_rows=30)
    assert (model.fit(x, y).predict(x) == y).mean() > 0.9


@learners
@pytest.mark.parametrize("batch", [1, 7, 59])
def test_split_and_order_leave_no_trace(model: Learner, batch: int) -> None:
    x, y = blobs()
    whole, parts = clone(model).partial_fit(x, y), model
    for rows in np.array_split(np.random.default_rng(1).permutation(len(x)), -(-len(x) // batch)):
        parts.partial_fit(x[rows], y[rows])
    same(parts, whole, x)


@learners
def test_predicting_in_between_leaves_no_trace(model: Learner) -> None:
    x, y = blobs()
    whole, parts = clone(model).partial_fit(x, y), model
    for c in (4, 1, 3, 0, 2):  # one class alone at first, then one by one, not in order
        parts.partial_fit(x[y == c], y[y == c])
        assert set(parts.predict(x)) <= set(parts.classes_)
    same(parts, whole, x)


@learners
def test_more_rows_than_a_block(model: Learner) -> None:
    x, y = blobs(n_rows=450)
    same(clone(model).partial_fit(x, y), model.partial_fit(x[:700], y[:700]).partial_fit(x[700:], y[700:]), x[:50])


@learners
def test_merge(model: Learner) -> None:
    x, y = blobs(n_classes=6)
    first, second = y < 3, y >= 2  # class 2 is known to both
    half = np.arange(len(y)) % 2 == 0
    first, second = first & (half | (y < 2)), second & (~half | (y > 2))
    a, b = clone(model).partial_fit(x[first], y[first]), clone(model).partial_fit(x[second], y[second])
    whole = model.partial_fit(x, y)
    before = a.decision_function(x)
    same(a + b, whole, x)
    same(sum([b, a]), whole, x)
    same((a + b).partial_fit(x[:5], y[:5]), clone(model).partial_fit(x, y).partial_fit(x[:5], y[:5]), x)
    np.testing.assert_array_equal(a.decision_function(x), before)
    same(a + clone(model), a, x)


@learners
def test_unlearn(model: Learner) -> None:
    x, y = blobs()
    gone = (y == 3) | (np.arange(len(y)) % 5 == 0)
    kept = clone(model).partial_fit(x[~gone], y[~gone])
    model.partial_fit(x, y)
    model.decision_function(x)
    same(model.unlearn(x[gone], y[gone]), kept, x)
    assert 3 not in model.classes_
    model.unlearn(x[~gone], y[~gone])
    with pytest.raises(NotLearnedError):
        model.predict(x)
    same(model.partial_fit(x, y), clone(model).partial_fit(x, y), x)


@learners
def test_unlearn_refuses_what_was_not_learned(model: Learner) -> None:
    x, y = blobs()
    model.partial_fit(x, y)
    before = model.decision_function(x)
    with pytest.raises(InputError, match="learned before, got 77"):
        model.unlearn(x[:1], [77])
    with pytest.raises(InputError, match="at most 12 examples of 2"):
        model.unlearn(np.repeat(x[:1], 13, axis=0), [2] * 13)
    np.testing.assert_array_equal(model.decision_function(x), before)


@learners
def test_save_and_load(model: Learner, tmp_path) -> None:
    x, y = blobs()
    labels = np.array(["ant", "bee", "cat", "dog", "elk"])[y]
    model.partial_fit(x, labels)
    model.save(tmp_path / "model.anacp")
    loaded = anacp.load(tmp_path / "model.anacp")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.decision_function(x), model.decision_function(x))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    same(loaded.partial_fit(x[:9], labels[:9]), model.partial_fit(x[:9], labels[:9]), x)


@learners
def test_a_solved_model_is_saved_with_its_solution(model: Learner, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs()
    model.partial_fit(x, y).solve(probabilities=True)
    scores, probabilities = model.decision_function(x), model.predict_proba(x)
    model.save(tmp_path / "model")

    def solved_again(*_: object) -> None:
        raise AssertionError("solved again")

    with monkeypatch.context() as patch:
        patch.setattr(type(model), "_solve", solved_again)
        patch.setattr("anacp.learners.base.mixed_draws", solved_again)
        if not keeps_factors(model):
            patch.setattr(Memory, "statistics", property(solved_again))
        loaded = anacp.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.decision_function(x), scores)
        np.testing.assert_array_equal(loaded.predict_proba(x), probabilities)
        np.testing.assert_array_equal(loaded.predict_proba(x[:1]), model.predict_proba(x[:1]))
    same(loaded.partial_fit(x[:9], y[:9]), model.partial_fit(x[:9], y[:9]), x)
    model.save(tmp_path / "model")  # solved by the comparison, then taught again
    model.partial_fit(x, y + 5).save(tmp_path / "more")
    assert (anacp.load(tmp_path / "model")._is_solved, anacp.load(tmp_path / "more")._is_solved) == (True, False)


def keeps_factors(model: Learner) -> bool:
    """FeCAM's inverse roots are larger than its statistics, and made from these."""
    return type(model).__name__ == "FeCAM" and model.covariance == "class"


@learners
def test_what_is_loaded_survives_its_file(learner: Learner, tmp_path) -> None:
    x, y = blobs()
    path = tmp_path / "model"
    model = clone(learner).partial_fit(x, y)
    model.save(path)
    loaded, copied = anacp.load(path), pickle.loads(pickle.dumps(anacp.load(path)))
    clone(learner).partial_fit(x[:, :3], y + 7).save(path)
    same(loaded.partial_fit(x[:9], y[:9]), clone(learner).partial_fit(x, y).partial_fit(x[:9], y[:9]), x)
    same(copied, model, x)


@learners
@pytest.mark.parametrize("kind", ["text", "object", "integer", "negative", "boolean", "float"])
def test_labels_of_any_type(learner: Learner, kind: str, tmp_path) -> None:
    x, y = blobs(n_classes=2, n_rows=30)
    labels = {
        "text": np.array(["no", "yes"])[y],
        "object": np.array(["no", "yes"], dtype=object)[y],
        "integer": y + 10**12,
        "negative": y - 5,
        "boolean": y.astype(bool),
        "float": y.astype(float) * 3,
    }[kind]
    model = clone(learner).partial_fit(x, labels)
    predicted = model.predict(x)
    assert predicted.dtype == labels.dtype
    assert (predicted == labels).mean() > 0.8
    model.save(tmp_path / "model")
    loaded = anacp.load(tmp_path / "model")
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(x), predicted)


@learners
def test_input_of_any_type(learner: Learner) -> None:
    x, y = blobs()
    x = x.astype(np.float32)
    expected = clone(learner).partial_fit(x, y).decision_function(x)
    for features, labels in [
        (torch.from_numpy(x), torch.from_numpy(y)),
        (x.tolist(), y.tolist()),
        (np.asfortranarray(x), y),
        (x[::-1][::-1], y),
        (torch.from_numpy(x).requires_grad_(), y),
    ]:
        model = clone(learner).partial_fit(features, labels)
        np.testing.assert_allclose(model.decision_function(features), expected, atol=1e-6)
    frozen = x.copy()
    frozen.setflags(write=False)
    clone(learner).partial_fit(frozen, y).predict(frozen)
    clone(learner).partial_fit(torch.from_numpy(x).bfloat16(), y).predict(torch.from_numpy(x).half())


@learners
def test_inputs_and_global_random_state_are_untouched(learner: Learner) -> None:
    x, y = blobs()
    x, before, labels = x.astype(np.float32), x.astype(np.float32), y.copy()
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    model = clone(learner).partial_fit(x, y)
    model.predict_proba(x)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(y, labels)
    assert torch.equal(torch.get_rng_state(), torch_state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
    scores = model.decision_function(before)
    pending = clone(learner).partial_fit(x, y)
    x[:] = 0  # rows that still wait must not be the caller's
    np.testing.assert_array_equal(pending.decision_function(before), scores)


@learners
def test_seed_decides_everything(learner: Learner) -> None:
    x, y = blobs()
    first = clone(learner).partial_fit(x, y).predict_proba(x)
    torch.manual_seed(123)
    np.testing.assert_array_equal(clone(learner).partial_fit(x, y).predict_proba(x), first)


BAD_INPUT = {
    "nan": (lambda x: np.where(np.arange(8) == 3, np.nan, x), None, "NaN"),
    "infinity": (lambda x: np.where(np.arange(8) == 3, np.inf, x), None, "infinity"),
    "too large for float32": (lambda x: x * 1e300, None, "infinity|too large"),
    "wrong width": (lambda x: x[:, :5], None, "8 features"),
    "one row as a vector": (lambda x: x[0], None, "2D array"),
    "no rows": (lambda x: x[:0], None, "0 sample"),
    "lengths differ": (lambda x: x[:-1], None, "inconsistent"),
    "labels of another kind": (lambda x: x, lambda y: y.astype(str), "kind learned before"),
    "mixed labels": (lambda x: x, lambda y: ["a", *y.tolist()[1:]], "one kind"),
    "continuous labels": (lambda x: x, lambda y: y + 0.5, "continuous"),
    "missing label": (lambda x: x, lambda y: np.where(y == 0, np.nan, y), "NaN"),
}


@learners
@pytest.mark.parametrize("fault", BAD_INPUT)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy, on the way to the refusal
def test_bad_input_changes_nothing(learner: Learner, fault: str) -> None:
    spoil_x, spoil_y, message = BAD_INPUT[fault]
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    before = model.decision_function(x)
    with pytest.raises(InputError, match=message):
        model.partial_fit(spoil_x(x), spoil_y(y) if spoil_y else y)
    np.testing.assert_array_equal(model.decision_function(x), before)
    same(model.partial_fit(x, y + 5), clone(learner).partial_fit(x, y).partial_fit(x, y + 5), x)


@learners
def test_a_failed_first_batch_leaves_a_new_model(learner: Learner) -> None:
    x, y = blobs()
    model = clone(learner)
    with pytest.raises(InputError):
        model.partial_fit(x, y + 0.5)
    assert vars(model) == vars(clone(learner))
    model.partial_fit(x[:, :5], y)
    assert model.n_features_in_ == 5


@learners
@pytest.mark.parametrize("survived", range(0, 40, 3))
def test_out_of_memory_changes_nothing(learner: Learner, survived: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any product, at any point of learning or unlearning, may fail."""
    x, y = blobs(n_rows=450)  # several blocks
    model = clone(learner).set_params(dtype="float64").partial_fit(x[:100], y[:100])
    untouched = copy.deepcopy(model)
    calls = {"left": survived}

    def failing(real):
        def call(*args, **keywords):
            calls["left"] -= 1
            if calls["left"] == -1:
                raise MemoryError
            return real(*args, **keywords)

        return call

    for name in ("addmm_", "index_add_", "__matmul__"):
        monkeypatch.setattr(torch.Tensor, name, failing(getattr(torch.Tensor, name)))
    try:
        model.partial_fit(x[100:], y[100:])
    except MemoryError:
        monkeypatch.undo()
        same(model, untouched, x)
        model.partial_fit(x[100:], y[100:])
    monkeypatch.undo()
    same(model, untouched.partial_fit(x[100:], y[100:]), x)


@learners
def test_only_learned_classes_are_predicted(learner: Learner) -> None:
    x, y = blobs()
    model = clone(learner).partial_fit(x[y < 2], y[y < 2], classes=np.arange(5))
    assert set(model.predict(x)) <= {0, 1}
    model.partial_fit(x, y)
    assert set(model.predict(x, classes=[1, 4])) <= {1, 4}
    scores = model.decision_function(x)
    np.testing.assert_array_equal(model.predict(x, classes=[4, 1]), np.array([1, 4])[scores[:, [1, 4]].argmax(1)])
    for bad in ([], [9], ["a"]):
        with pytest.raises(InputError, match="learned before"):
            model.predict(x, classes=bad)


@learners
def test_one_sample_alone(learner: Learner) -> None:
    x, y = blobs()
    model = clone(learner).partial_fit(x[:1], y[:1])
    assert (model.predict(x) == y[0]).all()
    np.testing.assert_array_equal(model.predict_proba(x), np.ones((len(x), 1)))
    model.partial_fit(x[1:2], [99])
    assert np.isfinite(model.decision_function(x)).all()
    assert model.predict(x[:2]).tolist() == [y[0], 99]


@learners
@pytest.mark.parametrize("case", ["zeros", "constant", "duplicates", "more features than rows", "two equal classes"])
def test_degenerate_features(learner: Learner, case: str) -> None:
    x, y = blobs(n_rows=4, n_features=50 if case == "more features than rows" else 8)
    if case == "zeros":
        x = np.zeros_like(x)
    elif case == "constant":
        x[:, 1:] = 3.0
    elif case == "duplicates":
        x, y = np.repeat(x, 5, axis=0), np.repeat(y, 5)
    elif case == "two equal classes":
        x[y == 1] = x[y == 2]
    model = clone(learner).partial_fit(x, y)
    assert np.isfinite(model.decision_function(x)).all()
    np.testing.assert_allclose(model.predict_proba(x).sum(1), 1, atol=1e-5)


@learners
def test_a_class_with_one_sample_among_others(learner: Learner) -> None:
    x, y = blobs()
    rows = np.concatenate([np.flatnonzero(y != 4), np.flatnonzero(y == 4)[:1]])
    model = clone(learner).partial_fit(x[rows], y[rows])
    assert np.isfinite(model.decision_function(x)).all()
    assert np.isfinite(model.predict_proba(x)).all()
    assert (model.predict(x[y != 4]) == y[y != 4]).mean() > 0.8


@learners
def test_a_thousand_classes_of_three(learner: Learner) -> None:
    x, y = blobs(n_classes=1000, n_rows=3)
    model = clone(learner).partial_fit(x, y)
    scores = model.decision_function(x[:50])
    assert scores.shape == (50, 1000)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(model.predict_proba(x[:50]).sum(1), 1, atol=1e-4)


@learners
def test_prediction_sees_a_bounded_number_of_rows(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blobs()
    model = clone(learner).partial_fit(x, y).solve()
    sizes: list[int] = []
    scores = type(model)._scores

    def recorded(self: Learner, rows: torch.Tensor, solution: object) -> torch.Tensor:
        sizes.append(len(rows))
        return scores(self, rows, solution)

    monkeypatch.setattr(type(model), "_scores", recorded)
    many = np.repeat(x, 300, axis=0)  # 18,000 rows
    assert len(model.predict(many)) == len(many)
    assert max(sizes) <= 8192
    assert sum(sizes) == len(many)


@learners
def test_parameters_are_fixed_once_learned(learner: Learner, tmp_path) -> None:
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    model.set_params(random_state=7)
    for ask in (
        lambda: model.predict(x),
        lambda: model.predict_proba(x),
        lambda: model.partial_fit(x, y),
        lambda: model.unlearn(x, y),
        lambda: model.save(tmp_path / "model"),
        lambda: model + model,
    ):
        with pytest.raises(ParameterError, match="random_state as when learning began"):
            ask()
    assert not list(tmp_path.iterdir())
    model.set_params(random_state=0)
    other = clone(learner).set_params(random_state=1).partial_fit(x, y)
    with pytest.raises(MismatchError, match=r"random_state \(0 and 1\)"):
        model + other
    with pytest.raises(MismatchError, match="8 and 5 features"):
        model + clone(learner).partial_fit(x[:, :5], y)
    with pytest.raises(InputError, match="kind learned before"):
        model + clone(learner).partial_fit(x, y.astype(str))


@learners
def test_summary_tells_what_a_file_holds(learner: Learner, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotLearnedError):
        learner.summary()
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    model.summary()
    printed = capsys.readouterr().out
    learner.summary(n_features=8, n_classes=5, n_rows=60)
    if getattr(learner, "ridge", None) != "accuracy":  # which keeps rows, about a fifth of them
        assert capsys.readouterr().out == printed
    total = sum(part.bytes for part in model.parts())
    assert f"{sum(part.numbers for part in model.parts()):,}" in printed
    model.save(tmp_path / "model")
    assert total <= (tmp_path / "model").stat().st_size <= total + 4000


@learners
def test_every_error_is_ours(learner: Learner) -> None:
    for ask in ("predict", "decision_function", "predict_proba"):
        with pytest.raises(AnacpError, match="learned nothing yet"):
            getattr(clone(learner), ask)([[0.0]])
    with pytest.raises(ParameterError, match="dtype to be 'float32' or 'float64', got 'float16'"):
        clone(learner).set_params(dtype="float16").partial_fit([[0.0]], [0])


def test_a_solve_parameter_may_change() -> None:
    x, y = blobs()
    model = AnaCP(n_projected=60, ridge=1.0).partial_fit(x, y)
    model.predict(x)
    model.set_params(ridge=3.0, targets="means")
    same(model, AnaCP(n_projected=60, ridge=3.0, targets="means").partial_fit(x, y), x)
