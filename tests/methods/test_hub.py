"""A classifier in a folder of the Hub's form: written, read back, and deaf to what others put beside it."""

import json
from pathlib import Path

import numpy as np
import pytest

from anacp.errors import ParameterError
from anacp.methods import HubClassifier
from tests.backbones.test_backbone import small
from tests.methods.inputs import pictures
from tests.methods.test_classifier import quick


@pytest.fixture(scope="module")
def model() -> HubClassifier:
    made = HubClassifier(small(), quick("NCM"))
    made.learn(*pictures(["blue", "red"], range(3)))
    return made


def test_there_and_back(model: HubClassifier, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path / "shared")
    assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == ["README.md", "config.json", "model.anacp"]
    back = HubClassifier.from_pretrained(tmp_path / "shared", backbone=small())
    assert isinstance(back, HubClassifier)
    shown = pictures(["blue", "red"], range(5, 8))[0]
    np.testing.assert_allclose(back.predict_proba(shown), model.predict_proba(shown), atol=1e-6)
    back.learn(*pictures(["green"], range(3)))  # and it goes on
    back.save_pretrained(tmp_path / "more")
    assert json.loads((tmp_path / "more" / "config.json").read_text())["classes"] == 3


def test_the_card_says_what_it_is(model: HubClassifier, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    card = model.generate_model_card()
    assert card.data.to_dict()["library_name"] == "anacp"
    text = (tmp_path / "README.md").read_text()
    assert "| learned | 6 examples of 2 classes |" in text
    assert "| classes | blue, red |" in text
    for name, value in model.learner.get_params().items():
        assert f"| {name} | {value} |" in text
    assert "anacp evaluate" in text
    model.save_pretrained(tmp_path / "judged", model_card_kwargs={"metrics": {"accuracy": 0.95}})
    assert "| accuracy | 0.95 |" in (tmp_path / "judged" / "README.md").read_text()


def test_what_lies_beside_the_model_decides_nothing(model: HubClassifier, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"encoder": "hf:evil/code", "store": "/tmp", "learner": "SLDA"}))
    back = HubClassifier.from_pretrained(tmp_path, backbone=small())
    assert (back.encoder.name, back.store, type(back.learner).__name__) == (model.encoder.name, None, "NCM")
    with pytest.raises(ParameterError, match="Expected backbone, engine, device or remote_code, got trust_remote_code"):
        HubClassifier.from_pretrained(tmp_path, trust_remote_code=True)
