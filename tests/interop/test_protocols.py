"""Loops as the frameworks write them, on real features: the frameworks themselves are not installed here."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset

import anacp
from anacp.interop import AvalancheStrategy, PilotLearner

SAMPLE = anacp.load_sample("clinc150")
NAMES = np.unique(SAMPLE.y_train)[:20]


class Rows(Dataset):
    """Features of some classes, numbered, with what else a framework puts beside them."""

    def __init__(self, x: np.ndarray, y: np.ndarray, classes: np.ndarray, shape: str) -> None:
        numbers = {name: number for number, name in enumerate(NAMES) if number in classes}
        rows = [row for row, name in enumerate(y) if name in numbers]
        self.x, self.y = torch.from_numpy(x[rows]), [numbers[y[row]] for row in rows]
        self.shape = shape

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, row: int) -> tuple:
        item = self.x[row], self.y[row]
        return (*item, 0) if self.shape == "avalanche" else (row, *item)


def rows(split: str, classes: np.ndarray, shape: str) -> Rows:
    return Rows(getattr(SAMPLE, f"x_{split}"), getattr(SAMPLE, f"y_{split}"), classes, shape)


def trained(classes: np.ndarray) -> tuple[anacp.SLDA, Rows, Rows]:
    """A learner that was given the same rows by hand."""
    train, test = (rows(split, classes, "avalanche") for split in ("train", "test"))
    return anacp.SLDA().partial_fit(train.x.numpy(), np.array(train.y)), train, test


def stream(name: str, split: str) -> list[SimpleNamespace]:
    parts = np.array_split(np.arange(20), 4)
    return [
        SimpleNamespace(
            dataset=rows(split, part, "avalanche"),
            current_experience=number,
            task_label=0,
            origin_stream=SimpleNamespace(name=name),
        )
        for number, part in enumerate(parts)
    ]


def test_the_loop_of_an_avalanche_script() -> None:
    network = nn.Sequential(nn.Identity(), nn.Dropout(0.5))  # in training it would spoil the features
    strategy = AvalancheStrategy(anacp.SLDA(), network)
    results = []
    for experience in stream("train", "train"):
        strategy.train(experience)
        results.append(strategy.eval(stream("test", "test")))
    by_hand, _, test = trained(np.arange(20))
    expected = (by_hand.predict(test.x.numpy()) == np.array(test.y)).mean()
    assert results[-1]["Top1_Acc_Stream/eval_phase/test_stream/Task000"] == pytest.approx(expected)
    assert expected > 0.9
    assert [name for name in results[0] if "Exp/" in name] == [
        f"Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp{number:03}" for number in range(4)
    ]
    assert results[0]["Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp003"] == 0.0  # still to come
    at_once = AvalancheStrategy(anacp.SLDA())
    at_once.train(stream("train", "train"))
    assert at_once.eval(stream("test", "test")) == pytest.approx(results[-1])


class DataManager:
    """Sizes and rows as PILOT's has them."""

    nb_tasks = 3

    def get_task_size(self, task: int) -> int:
        return [10, 5, 5][task]

    def get_dataset(self, indices: np.ndarray, source: str, mode: str) -> Rows:
        assert mode == "test"  # no augmentation
        return rows(source, indices, "pilot")


def test_the_loop_of_pilots_trainer() -> None:
    manager = DataManager()
    model = PilotLearner({"init_cls": 10, "increment": 5}, anacp.SLDA())
    curve = []
    for task in range(manager.nb_tasks):
        assert sum(parameter.numel() for parameter in model._network.parameters()) == 0
        model.incremental_train(manager)
        accuracies, nearest = model.eval_task()
        model.after_task()
        assert nearest is None
        curve.append(accuracies)
        assert len([name for name in accuracies["grouped"] if "-" in name]) == task + 1
    by_hand, _, test = trained(np.arange(20))
    expected = 100 * (by_hand.predict(test.x.numpy()) == np.array(test.y)).mean()
    last = curve[-1]
    assert last["top1"] == last["grouped"]["total"] == pytest.approx(expected, abs=0.01)
    assert last["top5"] >= last["top1"] > 90
    assert set(last["grouped"]) == {"total", "00-09", "10-14", "15-19", "old", "new"}
    assert last["grouped"]["new"] == last["grouped"]["15-19"]
    assert curve[0]["grouped"]["old"] == 0
