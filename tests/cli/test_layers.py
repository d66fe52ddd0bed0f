"""Layers from the command line: chosen or stated when a model is made, said again, and the same from then on."""

import json
from pathlib import Path

import pytest

from anacp.errors import MismatchError
from tests.backbones.models import needs_lite0
from tests.cli.conftest import anacp
from tests.methods.inputs import folder


@needs_lite0
def test_layers_are_chosen_once_and_said(tmp_path: Path) -> None:
    first, model = folder(tmp_path / "first", ["blue", "red"], range(5)), tmp_path / "model.anacp"
    printed = anacp("learn", first, "--model", model, "--learner", "NCM", "--layers", "auto")
    why = "layers -2, -1, by rule: 10 examples cannot tell"
    assert why in printed.splitlines()
    assert f"chosen    {why}" in anacp("info", model).splitlines()
    stated = json.loads(anacp("info", model, "--json"))
    assert (stated["backbone"]["layers"], stated["backbone"]["scaled"], stated["n_features"]) == ([-2, -1], True, 1600)
    assert stated["layer_choice"]["examples"] == 10
    more = folder(tmp_path / "more", ["blue", "green", "red"], range(6))
    for again in ((), ("--layers", "auto"), ("--layers", "-2,-1"), ("--layers", "block 15,last")):
        assert "by rule" not in anacp("learn", more, "--model", model, *again)
    with pytest.raises(MismatchError, match="cannot change its layers"):
        anacp("learn", more, "--model", model, "--layers", "last")
    assert anacp("predict", model, more / "red" / "000.png", "--top", 1).split()[1] == "red"
