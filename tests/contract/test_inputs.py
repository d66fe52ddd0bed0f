"""Input of any kind is taken or refused as a whole; a refusal or a failure changes nothing."""

import copy

import numpy as np
import pytest
import torch
from sklearn.base import clone

from anacp.errors import AnacpError, InputError, MismatchError, ParameterError
from anacp.learners import AnaCP, Learner
from tests.conftest import blobs
from tests.contract.every_learner import few_rows, learners, same

pytestmark = few_rows


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


def test_a_solve_parameter_may_change() -> None:
    x, y = blobs()
    model = AnaCP(n_projected=60, ridge=1.0).partial_fit(x, y)
    model.predict(x)
    model.set_params(ridge=3.0, targets="means")
    same(model, AnaCP(n_projected=60, ridge=3.0, targets="means").partial_fit(x, y), x)


@learners
def test_every_error_is_ours(learner: Learner) -> None:
    for ask in ("predict", "decision_function", "predict_proba"):
        with pytest.raises(AnacpError, match="learned nothing yet"):
            getattr(clone(learner), ask)([[0.0]])
    with pytest.raises(ParameterError, match="dtype to be 'float32' or 'float64', got 'float16'"):
        clone(learner).set_params(dtype="float16").partial_fit([[0.0]], [0])
