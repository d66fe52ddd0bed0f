"""Checkpoints, changed in one thing and sealed again: a training that cannot go on from one begins anew."""

import random

import pytest
import torch

from anacp.adaptation import Checkpoint, Group, OptimiserPlan
from anacp.adaptation.loop import CHECKPOINT
from anacp.files import TensorFile, write_tensors
from tests.files.mutations import mutated


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_a_checkpoint_that_cannot_be_counts_as_none(tmp_path, optimizer: str) -> None:
    plan = OptimiserPlan(epochs=3, batch_size=2, optimizer=optimizer, momentum=0.9 if optimizer == "sgd" else 0.0)
    trained = {"a": torch.ones(3, 2).requires_grad_(True), "b": torch.ones(4).requires_grad_(True)}
    checkpoint, taught = Checkpoint(tmp_path, "run"), plan.optimizer_for([Group(trained, 0.1)])
    (trained["a"].sum() + trained["b"].square().sum()).backward()
    taught.step()
    checkpoint.save(trained, taught, 2, 1.5)
    fresh = {name: torch.zeros_like(one).requires_grad_(True) for name, one in trained.items()}
    assert checkpoint.load_(fresh, plan.optimizer_for([Group(fresh, 0.1)])) == 2
    assert all(torch.equal(fresh[name], one) for name, one in trained.items())
    file = TensorFile(checkpoint.path, CHECKPOINT)
    header, tensors = {"epochs": 2, "seconds": 1.5}, file.tensors()
    n_refused = 0
    for seed in range(100):
        write_tensors(checkpoint.path, CHECKPOINT, *mutated(header, tensors, random.Random(seed)))
        fresh = {name: torch.zeros_like(one).requires_grad_(True) for name, one in trained.items()}
        began = plan.optimizer_for([Group(fresh, 0.1)])
        done = Checkpoint(tmp_path, "run").load_(fresh, began)
        if not done:
            n_refused += 1
            assert not any(one.any() for one in fresh.values())  # nothing changed
        (fresh["a"].sum() + fresh["b"].sum()).backward()
        began.step()
    assert n_refused > 50
