"""requirements.lock has the hashes of what constraints.txt pins: of everything but torch."""

import re
from pathlib import Path

from tools.lock import UNHASHED, pinned

ROOT = Path(__file__).resolve().parents[1]


def test_the_lock_pins_what_the_constraints_do() -> None:
    text = (ROOT / "requirements.lock").read_text()
    stated = pinned((ROOT / "constraints.txt").read_text())
    assert pinned(text) == {name: version for name, version in stated.items() if name not in UNHASHED}
    assert len(stated) == len((ROOT / "constraints.txt").read_text().split())
    for entry in re.split(r"\n(?=\w)", text)[1:]:
        assert re.fullmatch(r"\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n?", entry), entry[:100]
