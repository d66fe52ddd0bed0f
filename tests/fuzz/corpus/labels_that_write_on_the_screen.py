"""Terminal escape codes in labels reached the screen."""

from pathlib import Path

import anacp
from anacp.encoders import Encoder
from anacp.methods import Classifier
from tests.fuzz.corpus._common import command
from tests.fuzz.tiny import NAME, TEXTS, network


def check(folder: Path) -> None:
    path, labels = folder / "model.anacp", [f"\x1b[2J\x1b]0;owned\x07 {i % 3}" for i in range(9)]
    model = Classifier(Encoder(network(folder / "home")), anacp.NCM())
    model.learn(TEXTS, labels)
    model.save(path)
    rows = "".join(f"the red tree {i},\x1b[31mred {i}\n" for i in range(3))
    (folder / "more.csv").write_text(f"text,label\n{rows}")
    for arguments in (
        ("info", path),
        ("predict", path, "red"),
        ("learn", folder / "more.csv", "--model", path, "--backbone", NAME),
        ("evaluate", path, folder / "more.csv"),
        ("forget", path, folder / "more.csv"),
    ):
        code, printed, complained = command(*arguments)
        assert not set("\x1b\x07") & set(printed + complained), f"`anacp {arguments[0]}` writes escape codes"
        assert code == 0, f"`anacp {arguments[0]}`: {complained}"
