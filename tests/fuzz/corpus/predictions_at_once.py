"""Eight threads that ask an unsolved model first added its waiting rows eight times."""

from pathlib import Path

import numpy as np

import anacp
from anacp.testing import blobs
from tests.fuzz.corpus._common import at_once


def check(folder: Path) -> None:
    x, y = blobs(n_classes=10, n_rows=40, n_features=16)
    serial = anacp.GACL(n_projected=60).partial_fit(x, y).scores(x[:20])
    for _ in range(10):
        model, answers = anacp.GACL(n_projected=60).partial_fit(x, y), []
        problems = at_once(*[lambda model=model, answers=answers: answers.append(model.scores(x[:20]))] * 8)
        assert not problems, problems[0]
        assert all(np.array_equal(one, serial) for one in [*answers, model.scores(x[:20])]), "other scores"
