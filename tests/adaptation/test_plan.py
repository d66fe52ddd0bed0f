"""The plan of an optimiser: schedules, clipping, and one rate a group."""

import pytest
import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR

from anacp.adaptation import Group, OptimiserPlan
from anacp.errors import ParameterError


def test_one_cycle_rises_and_falls() -> None:
    plan = OptimiserPlan(epochs=4, batch_size=8, schedule="one-cycle")
    shares = [plan.share(epoch, step, 50) for epoch in range(4) for step in range(50)]
    assert shares[0] == pytest.approx(0.04)
    assert shares[60] == max(shares) == 1.0
    assert shares[:61] == sorted(shares[:61])
    assert shares[60:] == sorted(shares[60:], reverse=True)
    assert 0 < shares[-1] < 1e-3


def test_cosine_moves_from_epoch_to_epoch_as_torch_has_it() -> None:
    plan, optimizer = OptimiserPlan(epochs=20, batch_size=8, final_rate=0.1), SGD([torch.zeros(1)], lr=1.0)
    scheduler = CosineAnnealingLR(optimizer, 20, eta_min=0.1)
    for epoch in range(20):
        assert plan.share(epoch, 0, 50) == plan.share(epoch, 49, 50) == pytest.approx(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    assert {OptimiserPlan(epochs=4, batch_size=8).share(epoch) for epoch in range(4)} == {1}


def test_the_gradient_of_all_groups_together_is_clipped() -> None:
    first, second = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
    plan = OptimiserPlan(epochs=1, batch_size=1, optimizer="sgd", clip=0.5)
    optimizer = plan.optimizer_for([Group({"first": first}, 1.0), Group({"second": second}, 0.1)])
    (first @ torch.tensor([3.0, 0.0]) + 4 * second.sum()).backward()
    plan.step(optimizer, 0.5)
    torch.testing.assert_close(first, torch.tensor([-0.15, 0.0]))  # 0.5 · 3/5, at half the rate
    torch.testing.assert_close(second, torch.tensor([-0.02]))


@pytest.mark.parametrize("wrong", [{"schedule": "linear"}, {"clip": 0.0}, {"epochs": 0}, {"momentum": -1.0}])
def test_bad_plans_are_refused(wrong: dict) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        OptimiserPlan(**{"epochs": 1, "batch_size": 1} | wrong)
