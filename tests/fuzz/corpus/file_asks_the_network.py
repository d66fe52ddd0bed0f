"""A model file that names a model of the hub made `predict` send requests there."""

import sys
from pathlib import Path

import anacp
from anacp.encoders import Encoder
from anacp.methods import Classifier
from tests.fuzz.corpus._common import changed, command
from tests.fuzz.tiny import LABELS, TEXTS, network


def check(folder: Path) -> None:
    model = Classifier(Encoder(network(folder / "home")), anacp.NCM())
    model.learn(TEXTS, LABELS)
    path = changed(folder, model, lambda header, _: header["backbone"].update(name="hf:nobody/nothing"))
    asked: list[str] = []

    def hook(event: str, arguments: tuple) -> None:
        if event in ("socket.getaddrinfo", "socket.connect"):
            asked.append(f"{event} {arguments}")

    sys.addaudithook(hook)
    code, _, complaint = command("predict", path, "red")
    assert not asked, f"{asked[0]}"
    assert code == 2, f"exit code {code}: {complaint}"
    assert complaint.count("\n") == 1, complaint
