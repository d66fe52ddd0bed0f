"""Input of any kind is taken or refused as a whole; a refusal or a failure changes nothing."""

import contextlib
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
import torch
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone

from anacp.errors import AnacpError, InputError, MismatchError, ParameterError
from anacp.learners import WAITING_ROWS, Learner, contents
from anacp.testing.data import assert_same, blobs
from anacp.testing.refusing import refuses

Spoil = Callable[[NDArray[Any]], Any]

BAD_INPUT: dict[str, tuple[Spoil, Spoil, str]] = {
    "nan": (lambda x: np.where(np.arange(8) == 3, np.nan, x), lambda y: y, "NaN"),
    "infinity": (lambda x: np.where(np.arange(8) == 3, np.inf, x), lambda y: y, "infinity"),
    "too large for float32": (lambda x: x * 1e300, lambda y: y, "infinity|too large"),
    "wrong width": (lambda x: x[:, :5], lambda y: y, "8 features"),
    "one row as a vector": (lambda x: x[0], lambda y: y, "2D array"),
    "no rows": (lambda x: x[:0], lambda y: y, "0 sample"),
    "lengths differ": (lambda x: x[:-1], lambda y: y, "inconsistent"),
    "labels of another kind": (lambda x: x, lambda y: y.astype(str), "kind learned before"),
    "mixed labels": (lambda x: x, lambda y: ["a", *y.tolist()[1:]], "one kind"),
    "continuous labels": (lambda x: x, lambda y: y + 0.5, "continuous"),
    "missing label": (lambda x: x, lambda y: np.where(y == 0, np.nan, y), "NaN"),
}
# Whatever allocates while learning: it may fail at any of these.
PRODUCTS = ("addmm_", "index_add_", "index_add", "__matmul__")


def input_of_any_type_is_taken(learner: Learner[Any]) -> None:
    """Arrays, lists and tensors of any layout and precision give the same model."""
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
        assert_allclose(model.decision_function(features), expected, atol=1e-6)
    frozen = x.copy()
    frozen.setflags(write=False)
    clone(learner).partial_fit(frozen, y).predict(frozen)
    clone(learner).partial_fit(torch.from_numpy(x).bfloat16(), y).predict(torch.from_numpy(x).half())


def inputs_and_global_random_state_stay_untouched(learner: Learner[Any]) -> None:
    """Neither learning nor predicting changes the caller's arrays or random state; what waits is not the caller's."""
    x, y = blobs()
    x, before, labels = x.astype(np.float32), x.astype(np.float32), y.copy()
    torch_state, numpy_state = torch.get_rng_state(), _numpy_state()
    model = clone(learner).partial_fit(x, y)
    model.predict_proba(x)
    assert_array_equal(x, before)
    assert_array_equal(y, labels)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert_array_equal(_numpy_state(), numpy_state)
    scores = model.decision_function(before)
    pending = clone(learner).partial_fit(x, y)
    x[:] = 0
    assert_array_equal(pending.decision_function(before), scores)


def _numpy_state() -> NDArray[Any]:
    return np.asarray(np.random.get_state(legacy=False)["state"]["key"]).copy()  # noqa: NPY002


def bad_input_changes_nothing(learner: Learner[Any]) -> None:
    """What cannot be used is refused with a reason, and the model goes on as if it had not come."""
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    before = model.decision_function(x)
    for spoil_x, spoil_y, message in BAD_INPUT.values():
        with warnings.catch_warnings(), refuses(InputError, message):
            warnings.simplefilter("ignore", RuntimeWarning)  # numpy, on the way to the refusal
            model.partial_fit(spoil_x(x), spoil_y(y))
        assert_array_equal(model.decision_function(x), before)
    assert_same(model.partial_fit(x, y + 5), clone(learner).partial_fit(x, y).partial_fit(x, y + 5), x)


def a_failed_first_batch_leaves_a_new_model(learner: Learner[Any]) -> None:
    """After a refusal the first batch may have any width."""
    x, y = blobs()
    model = clone(learner)
    with refuses(InputError, "continuous"):
        model.partial_fit(x, y + 0.5)
    assert vars(model._snapshot()) == vars(clone(learner))
    assert model.partial_fit(x[:, :5], y).n_features_in_ == 5


def a_failure_in_the_middle_changes_nothing(learner: Learner[Any]) -> None:
    """Whichever product fails while learning or unlearning, the model stays as it was, to the bit."""
    x, y = blobs(n_rows=WAITING_ROWS // 5 + 20)

    def taught() -> Learner[Any]:
        return cast(Learner[Any], clone(learner).partial_fit(x[:100], y[:100]))

    untouched = contents(taught())[1]
    changes: tuple[Callable[[Learner[Any]], Learner[Any]], ...] = (
        lambda one: one.partial_fit(x, y),
        lambda one: one.unlearn(x[:40], y[:40]),
    )
    for change in changes:
        n_products = _failing(change, taught(), at=None)
        assert n_products > 0, "expected products that can fail, got none"
        model = taught()
        for at in {0, n_products // 2, n_products - 1}:
            with refuses(MemoryError, f"product {at}"):
                _failing(change, model, at=at)
            for name, tensor in contents(model)[1].items():
                assert torch.equal(tensor, untouched[name]), f"{name} has changed"
        changed, expected = contents(change(model))[1], contents(change(taught()))[1]
        assert all(torch.equal(tensor, expected[name]) for name, tensor in changed.items())


def _failing(change: Callable[[Learner[Any]], Any], model: Learner[Any], at: int | None) -> int:
    """Change a model with one product failing, and return how many products there were."""
    done = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            if done - 1 == at:
                raise MemoryError(f"product {at}")
            return real(*arguments, **options)

        return call

    with contextlib.ExitStack() as patches:
        for name in PRODUCTS:
            patches.enter_context(mock.patch.object(torch.Tensor, name, counted(getattr(torch.Tensor, name))))
        change(model)
    return done


def parameters_are_fixed_once_learned(learner: Learner[Any]) -> None:
    """What the statistics depend on cannot change, and models that differ in it cannot be merged."""
    x, y = blobs()
    model = clone(learner).partial_fit(x, y)
    model.set_params(random_state=7)
    with tempfile.TemporaryDirectory() as folder:
        asked: tuple[Callable[[], Any], ...] = (
            lambda: model.predict(x),
            lambda: model.predict_proba(x),
            lambda: model.partial_fit(x, y),
            lambda: model.unlearn(x, y),
            lambda: model.save(Path(folder) / "model"),
            lambda: model + model,
        )
        for ask in asked:
            with refuses(ParameterError, "random_state as when learning began"):
                ask()
        assert not list(Path(folder).iterdir())
    model.set_params(random_state=0)
    with refuses(MismatchError, r"random_state \(0 and 1\)"):
        model + clone(learner).set_params(random_state=1).partial_fit(x, y)
    with refuses(MismatchError, "8 and 5 features"):
        model + clone(learner).partial_fit(x[:, :5], y)
    with refuses(InputError, "kind learned before"):
        model + clone(learner).partial_fit(x, y.astype(str))


def every_error_is_ours(learner: Learner[Any]) -> None:
    """A question to a model that has learned nothing, and a parameter out of range, are answered by name."""
    for ask in ("predict", "decision_function", "predict_proba"):
        with refuses(AnacpError, "learned nothing yet"):
            getattr(clone(learner), ask)([[0.0]])
    with refuses(ParameterError, "dtype to be one of 'float32', 'float64', got 'float16'"):
        clone(learner).set_params(dtype="float16").partial_fit([[0.0]], [0])
