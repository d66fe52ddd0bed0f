"""What single trained methods publish: how they begin, draw and default; and the names they go by."""

import inspect

import pytest
import torch

from anacp.errors import ParameterError, UnknownNameError
from anacp.methods.trained import SETTINGS, TRAINED, settings, trained
from tests.methods.trained.models import FIRST, learned, make, task

pytest.importorskip("transformers")


def test_components_join_at_right_angles(encoder) -> None:
    model = learned("CODAPrompt", encoder, rate=0.0, n_tasks=2)  # nothing moves after the draw
    for kind in ("prompts", "keys", "attentions"):
        rows = torch.cat([model._state[f"{kind}.1 of task {number}"].flatten(1) for number in range(2)])
        torch.testing.assert_close(rows @ rows.T, torch.eye(6), atol=1e-5, rtol=0)
    with pytest.raises(ParameterError, match="no more than that are orthogonal"):
        make("CODAPrompt", encoder, n_components=25).learn(*task(FIRST))


def test_alignment_draws_follow_the_gaussians(encoder) -> None:
    from anacp.methods.trained.slca import draw
    from anacp.methods.trained.stage import TaskExamples

    model = learned("SLCA", encoder, 2, epochs=1)
    task_of = torch.tensor([0, 0, 0, 1, 1, 1])
    whole = TaskExamples(1, [], torch.empty(0), torch.empty(0), task_of)
    rows = draw(model._state, whole, 4000, 0, "test").view(6, 4000, -1)
    means, covariances = model._state["means.all"], model._state["covariances.all"]
    for code in range(6):
        shrink = 0.95 if code < 3 else 1.0  # 0.9 + 0.1 · (t_c + 1) / 2
        torch.testing.assert_close(rows[code].mean(0), shrink * means[code], atol=0.08, rtol=0)
        torch.testing.assert_close(torch.cov(rows[code].T), covariances[code] + 1e-4 * torch.eye(24), atol=0.08, rtol=0)


def test_lora_may_be_everywhere(encoder) -> None:
    on_attention, everywhere = (learned("JointFineTuning", encoder, epochs=1, everywhere=one) for one in (False, True))
    assert sum(name.startswith("network.") for name in on_attention._state) == 8
    moved = [tensor.abs().max() > 0 for name, tensor in everywhere._state.items() if name.endswith("up")]
    assert len(moved) == 12
    assert all(moved)


def test_names_have_manners() -> None:
    assert trained("coda-prompt") is TRAINED["CODAPrompt"]
    with pytest.raises(UnknownNameError, match="Did you mean 'DualPrompt'"):
        trained("duelprompt")
    with pytest.raises(UnknownNameError, match="Did you mean 'minilm'"):
        settings("minilmm", "L2P")
    assert settings("published", "l2p") == {}
    for name, stated in SETTINGS["minilm"].items():
        assert stated.keys() <= inspect.signature(TRAINED[name].__init__).parameters.keys()


def test_defaults_are_as_published() -> None:
    def stated(name: str) -> dict:
        parameters = inspect.signature(TRAINED[name].__init__).parameters
        return {key: one.default for key, one in parameters.items() if one.default is not inspect.Parameter.empty}

    expected = {
        "L2P": {"n_prompts": 10, "length": 5, "n_chosen": 5, "pull": 0.1, "rate": 0.03, "epochs": 5, "clip": 1.0},
        "DualPrompt": {"general_layers": (0, 1), "expert_layers": (2, 3, 4), "general_length": 5, "expert_length": 5},
        "CODAPrompt": {"n_components": 10, "length": 8, "prompt_layers": (0, 1, 2, 3, 4), "rate": 1e-3, "epochs": 20},
        "SLCA": {"rate": 1e-4, "head_rate": 0.01, "weight_decay": 5e-4, "epochs": 20, "align_epochs": 5},
        "JointLinearProbe": {"rate": 0.01, "epochs": 30, "weight_decay": 5e-4},
        "JointFineTuning": {"rank": 8, "everywhere": False, "rate": 1e-4, "head_rate": 1e-3, "epochs": 20},
    }
    for name, values in expected.items():
        assert stated(name).items() >= values.items()
        assert stated(name)["batch_size"] == 128
    assert stated("SLCA")["align_samples"] == 256
    assert stated("SLCA")["temperature"] == stated("JointFineTuning")["final_rate"] == 0.1
