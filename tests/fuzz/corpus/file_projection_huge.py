"""A file of 4 kB that states a projection of 10⁹ features took 3.8 GB and did not end."""

from pathlib import Path

import anacp
from tests.fuzz.corpus._common import changed, refuses_use
from tests.fuzz.subjects import CODES, X


def check(folder: Path) -> None:
    model = anacp.RanPAC(n_projected=12).partial_fit(X, CODES)
    refuses_use(changed(folder, model, lambda header, _: header["parameters"].update(n_projected=10**9)))
