"""A model file that names a folder made `learn` run the Python in that folder, after a "y" on standard input."""

import json
from pathlib import Path

import anacp
from anacp.encoders import Encoder
from anacp.methods import Classifier
from tests.fuzz.corpus._common import changed, command
from tests.fuzz.tiny import LABELS, TEXTS, network


def check(folder: Path) -> None:
    model = Classifier(Encoder(network(folder / "home")), anacp.NCM())
    model.learn(TEXTS, LABELS)
    evil, witness = folder / "evil", folder / "it ran"
    evil.mkdir()
    (evil / "config.json").write_text(
        json.dumps({"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}})
    )
    (evil / "evil.py").write_text(f"open({str(witness)!r}, 'w')\n")
    path = changed(folder, model, lambda header, _: header["backbone"].update(name=f"hf:{evil}"))
    (folder / "more.csv").write_text("text,label\nthe red tree,red\n")
    for arguments in (("learn", folder / "more.csv", "--model", path), ("predict", path, "red"), ("info", path)):
        command(*arguments, typed="y\ny\ny\n")
        assert not witness.exists(), f"`anacp {arguments[0]}` ran Python that the model file names"
