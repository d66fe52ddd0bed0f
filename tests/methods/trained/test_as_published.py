"""What single trained methods publish: how they begin, draw and step; and what the catalogue says of them."""

from pathlib import Path

import pytest
import torch

from anacp.catalogue import METHODS
from anacp.errors import ParameterError
from anacp.methods.trained.slca import draw
from tests.methods.trained.models import FIRST, SECOND, TRAINED, make, task

pytest.importorskip("transformers")


def test_components_join_at_right_angles(encoder) -> None:
    model = make("CODAPrompt", encoder, rate=0.0, epochs=1)  # nothing moves after the draw
    for labels in (FIRST, SECOND):
        model.learn(*task(labels, n=8))
    for kind in ("prompts", "keys", "attentions"):
        rows = torch.cat([model._state[f"{kind}.1 of task {number}"].flatten(1) for number in range(2)])
        torch.testing.assert_close(rows @ rows.T, torch.eye(6), atol=1e-5, rtol=0)
    with pytest.raises(ParameterError, match="no more than that are orthogonal"):
        make("CODAPrompt", encoder, n_components=25).learn(*task(FIRST))


def test_alignment_draws_follow_the_gaussians(taught) -> None:
    model = taught("SLCA", 2)
    rows = draw(model._state, model._arrived, 4000, 0, "test").view(6, 4000, -1)
    means, covariances = model._state["means.all"], model._state["covariances.all"]
    for code in range(6):
        shrink = 0.95 if code < 3 else 1.0  # 0.9 + 0.1 · (t_c + 1) / 2
        torch.testing.assert_close(rows[code].mean(0), shrink * means[code], atol=0.08, rtol=0)
        torch.testing.assert_close(torch.cov(rows[code].T), covariances[code] + 1e-4 * torch.eye(24), atol=0.08, rtol=0)


def test_lora_may_be_everywhere(encoder, taught) -> None:
    everywhere = make("JointFineTuning", encoder, epochs=1, everywhere=True)
    everywhere.learn(*task(FIRST, n=16))
    assert sum(name.startswith("network.") for name in taught("JointFineTuning")._state) == 8
    moved = [tensor.abs().max() > 0 for name, tensor in everywhere._state.items() if name.endswith("up")]
    assert len(moved) == 12
    assert all(moved)


def test_the_catalogue_has_them() -> None:
    assert METHODS.find("coda-prompt").make.__name__ == "CODAPrompt"
    assert {name for name in TRAINED if METHODS[name].joint} == {"JointFineTuning", "JointLinearProbe"}
    pages = Path(__file__).resolve().parents[3] / "docs" / "methods"
    for name in TRAINED:
        entry = METHODS[name]
        assert (pages / f"{entry.page}.md").is_file()
        assert entry.settings["minilm"]
        entry.check_parameters(entry.settings["minilm"])


@pytest.mark.parametrize(("name", "share"), [("L2P", 0.5), ("DualPrompt", 0.5), ("CODAPrompt", 1.0)])
def test_rates_are_for_256_rows_where_published_so(encoder, name: str, share: float) -> None:
    model = make(name, encoder, rate=0.04, batch_size=128)
    state = {"head.weight": torch.zeros(3, 24), "head.bias": torch.zeros(3)}
    (stage,) = model._stages(model._arrived.with_task(*task(FIRST, n=6)), state)
    assert stage.groups[0].rate == pytest.approx(0.04 * share)
