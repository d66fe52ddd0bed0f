"""Files of every kind of model, changed in one thing and sealed again: taken whole, or refused in one line."""

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import anacp
from anacp.adaptation import Adaptation, adapt
from anacp.adaptation.adaptation import ADAPTATION
from anacp.encoders import Encoder
from anacp.errors import AnacpError, ModelFileError
from anacp.files import FileKind, TensorFile, write_tensors
from anacp.learners import MODEL
from anacp.methods import Classifier
from tests.adaptation.models import examples
from tests.contract.every_learner import every_learner
from tests.files.mutations import mutated
from tests.methods.trained.test_trained import TRAINED, make

TEXTS, LABELS = examples("text", 16)


def contents(path: Path, kind: FileKind = MODEL) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    file = TensorFile(path, kind)
    return {key: value for key, value in file.header.items() if key != "written_by"}, file.tensors()


def attacked(path: Path, kind: FileKind, use: Callable[[], object], n: int) -> None:
    """Change the file n times, each time in one thing: using it works, or ends in an error of ours, in one line."""
    header, tensors = contents(path, kind)
    errors: list[AnacpError] = []
    for seed in range(n):
        draw = random.Random(seed)
        write_tensors(path, kind, *mutated(header, tensors, draw))
        try:
            use()
        except AnacpError as problem:
            errors.append(problem)
    assert not [problem for problem in errors if "\n" in str(problem)]
    assert sum(isinstance(problem, ModelFileError) for problem in errors) > n / 2


def test_learners(tmp_path) -> None:
    x, y = anacp.testing.blobs()
    for number, learner in enumerate(every_learner()):
        learner.partial_fit(x, np.array(["ant", "bee", "cat", "dog", "elk"])[y] if number % 2 else y)

        def use() -> None:
            model = anacp.load(tmp_path / "model")
            model.predict(x[:3])
            model.partial_fit(x[:3], model.classes_[:3])
            model.save(tmp_path / "again")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (learner.solve(probabilities=True) if number % 3 else learner).save(tmp_path / "model")
            attacked(tmp_path / "model", MODEL, use, 30)


@pytest.fixture
def classifier(transformer, tmp_path) -> tuple[Path, Classifier]:
    frozen = transformer("bert")
    adaptation = adapt(frozen, TEXTS, LABELS, recipe=anacp.adaptation.Recipe("short", 0.01, 0.001, epochs=1), seed=3)
    model = Classifier(Encoder(frozen, adaptation=adaptation, concatenate=True), "SLDA")
    model.learn(TEXTS, LABELS)
    model.solve().save(tmp_path / "model")
    return tmp_path / "model", model


def test_classifiers(classifier, transformer) -> None:
    path, model = classifier

    def use() -> None:
        loaded = Classifier.load(path, backbone=transformer("bert"))
        loaded.predict(TEXTS[:2])
        loaded.save(path.with_name("again"))

    use()
    loaded = Classifier.load(path, backbone=transformer("bert"))
    np.testing.assert_array_equal(loaded.predict(TEXTS), model.predict(TEXTS))
    attacked(path, MODEL, use, 150)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("examples.counts", lambda counts: counts + 1, "examples.counts are not those"),
        ("examples.counts", lambda counts: counts * 0, "examples.counts are not those"),
        ("examples.counts", lambda counts: counts[:-1], "examples.counts is"),
        ("examples.digests", lambda digests: digests[:-1], "digests for 16 examples"),
        ("examples.digests", lambda digests: digests.flip(0), "not sorted"),
        ("examples.digests", lambda digests: digests.float(), "is F32"),
        ("adaptation.0.down", lambda down: down[:-1], "not a matrix of rank 8"),
        ("adaptation.0.down", lambda down: down * torch.nan, "holds NaN"),
    ],
)
def test_examples_and_adaptations_that_cannot_be(classifier, transformer, name: str, change, message: str) -> None:
    path, _ = classifier
    header, tensors = contents(path)
    write_tensors(path, MODEL, header, tensors | {name: change(tensors[name])})
    with pytest.raises(ModelFileError, match=message):
        Classifier.load(path, backbone=transformer("bert"))


@pytest.mark.parametrize("name", TRAINED)
def test_trained_methods(transformer, tmp_path, name: str) -> None:
    model = make(name, transformer("bert"))
    model.learn(TEXTS, LABELS)
    model.save(tmp_path / "model")

    def use() -> None:
        anacp.load(tmp_path / "model", backbone=transformer("bert")).predict(TEXTS[:2])

    use()
    attacked(tmp_path / "model", MODEL, use, 40)


def test_adaptations(transformer, tmp_path) -> None:
    frozen = transformer("bert")
    recipe = anacp.adaptation.Recipe("short", 0.01, 0.001, epochs=1)
    adapt(frozen, TEXTS, LABELS, recipe=recipe, seed=3).save(tmp_path / "file")
    attacked(tmp_path / "file", ADAPTATION, lambda: Adaptation.load(tmp_path / "file").apply(frozen), 150)
