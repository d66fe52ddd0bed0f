"""A long label costs its own length, from the row to the file and back."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anacp
from anacp.labels import LONGEST_PADDED, label_array
from tests.conftest import blobs

LONG = "x" * 100_000

# Padded, the labels alone would take 7.45 GiB; the limit is what the process has, and 1 GiB more.
LEARN = f"""
import resource, numpy as np, anacp
from pathlib import Path
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
x = np.random.default_rng(0).normal(size=(20_000, 8)).astype("float32")
y = [str(row % 50) for row in range(19_999)] + ["x" * {len(LONG)}]
model = anacp.NCM().partial_fit(x, y)
assert len(model.classes_) == 51
assert len(model.predict(x[-1:])[0]) in (1, 2, {len(LONG)})
"""


def test_twenty_thousand_rows_and_one_long_label() -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc to say how much memory a process has")
    done = subprocess.run([sys.executable, "-c", LEARN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_short_labels_are_plain_arrays() -> None:
    assert label_array(["a", "b" * LONGEST_PADDED]).dtype.kind == "U"
    assert label_array(["a", "b" * (LONGEST_PADDED + 1)]).dtype == object
    assert label_array([1, 2]).dtype.kind == "i"


def test_a_long_label_is_a_label_like_any_other(tmp_path: Path) -> None:
    x, y = blobs(n_classes=3)
    names = [("a", "b", LONG)[code] for code in y]
    model, plain = anacp.NCM().fit(x, names), anacp.NCM().fit(x, y)
    expected = np.array(["a", "b", LONG], object)[plain.predict(x)]
    assert model.predict(x).tolist() == expected.tolist()
    model.save(tmp_path / "model")
    restored = anacp.load(tmp_path / "model")
    assert restored.classes_.tolist() == ["a", "b", LONG]
    assert restored.predict(x).tolist() == expected.tolist()
    short = anacp.NCM().fit(x[y == 0], ["a"] * int((y == 0).sum()))
    rest = anacp.NCM().fit(x[y > 0], [name for name in names if name != "a"])
    assert (short + rest).predict(x).tolist() == expected.tolist()
    restored.unlearn(x[y == 2], [LONG] * int((y == 2).sum()))
    assert restored.classes_.tolist() == ["a", "b"]
    with pytest.raises(anacp.errors.InputError, match="…") as refused:
        restored.unlearn(x[:1], [LONG])
    assert len(str(refused.value)) < 300
