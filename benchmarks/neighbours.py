"""The README's table: what other libraries do with classes that come later, and how well, on the same features.

    pip install --no-deps river
    .venv/bin/python benchmarks/neighbours.py

CLINC150 as MiniLM features (the embedded sample), 150 classes in ten tasks, in the paper's order with seed 0. Each
library learns task after task, every row once, and is then asked for the test rows; river for a tenth of these, since
it takes them one by one. Whether a class may come unannounced, models merge, and an example can be taken out again, is
tried. Seconds are of learning and solving; prediction is left out. Compare them within one run only.
"""

import json
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import anacp
from anacp.scenarios import ClassIncremental

EVERY = 10  # of the test rows, for river
sample = anacp.load_sample("clinc150")
X, Y, X_TEST, Y_TEST = sample.x_train, sample.y_train, sample.x_test, sample.y_test
TASKS = [task.rows for task in ClassIncremental(Y, n_tasks=10, seed=0).tasks(Y)]


class Sklearn:
    """`partial_fit` of scikit-learn, told of all classes in advance, as it demands."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        self.model.partial_fit(x, y, classes=np.unique(Y))

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.model.predict(x)


class River:
    """Naive Bayes, one row at a time: of river's classifiers one that takes new classes and no tuning."""

    def __init__(self) -> None:
        from river.naive_bayes import GaussianNB as Streamed

        self.model = Streamed()

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        for row, label in zip(x.tolist(), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), label)

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.array([self.model.predict_one(dict(enumerate(row))) for row in x.tolist()])


class Ours:
    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, x: np.ndarray, y: np.ndarray) -> None:
        self.model.partial_fit(x, y)

    def predict(self, x: np.ndarray) -> np.ndarray:
        return self.model.predict(x)


def works(attempt: Callable[[], Any]) -> bool:
    try:
        attempt()
    except Exception:  # whatever it is that another library raises
        return False
    return True


def unannounced(model: Any) -> bool:
    """Return whether a class may come that was named nowhere before."""

    def attempt() -> None:
        if hasattr(model, "learn_one"):
            model.learn_one({0: 1.0}, "a")
            model.learn_one({0: -1.0}, "b")
            return
        first = {"classes": ["a", "b"]} if isinstance(model, SGDClassifier | GaussianNB) else {}
        model.partial_fit(np.eye(4)[:2], np.array(["a", "b"]), **first)
        model.partial_fit(np.eye(4)[2:3], np.array(["c"]))

    return works(attempt)


def merges(make: Callable[[], Any]) -> bool:
    def attempt() -> None:
        one, two = (make() for _ in range(2))
        if hasattr(one, "partial_fit") and not isinstance(one, SGDClassifier | GaussianNB):
            one.partial_fit(np.eye(4)[:1], np.array(["a"]))
            two.partial_fit(np.eye(4)[1:2], np.array(["b"]))
        one + two

    return works(attempt)


def row(name: str, wrapped: Any, fresh: Callable[[], Any]) -> dict[str, Any]:
    every = EVERY if isinstance(wrapped, River) else 1
    start = perf_counter()
    for rows in TASKS:
        wrapped.learn(X[rows], Y[rows])
    if isinstance(wrapped, Ours):
        wrapped.model.solve()
    seconds = perf_counter() - start
    right = float((wrapped.predict(X_TEST[::every]) == Y_TEST[::every]).mean())
    return {
        "name": name,
        "right, %": round(100 * right, 1),
        "of test rows": len(Y_TEST[::every]),
        "seconds": round(seconds, 1),
        "classes unannounced": unannounced(fresh()),
        "merges": merges(fresh),
        "unlearns": any(hasattr(fresh(), name) for name in ("unlearn", "unlearn_one")),
        "says unknown": hasattr(fresh(), "familiarity"),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    cases: list[tuple[str, Any, Callable[[], Any]]] = [
        ("anacp AnaCP", Ours(anacp.AnaCP()), anacp.AnaCP),
        ("anacp NCM", Ours(anacp.NCM()), anacp.NCM),
        ("sklearn SGDClassifier", Sklearn(SGDClassifier(loss="log_loss", random_state=0)), SGDClassifier),
        ("sklearn GaussianNB", Sklearn(GaussianNB()), GaussianNB),
    ]
    try:
        cases.append(("river GaussianNB", River(), lambda: River().model))
    except ImportError:
        print("river is not installed: pip install --no-deps river")
    for name, wrapped, fresh in cases:
        print(json.dumps(row(name, wrapped, fresh)), flush=True)


if __name__ == "__main__":
    main()
