"""A file of 4 kB that states 10⁹ members did not end."""

from pathlib import Path

import anacp
from tests.fuzz.corpus._common import changed, refuses_use
from tests.fuzz.subjects import CODES, X


def check(folder: Path) -> None:
    model = anacp.KLDA(n_projected=12, gamma=0.01).partial_fit(X, CODES)
    refuses_use(changed(folder, model, lambda header, _: header["parameters"].update(n_members=10**9)))
