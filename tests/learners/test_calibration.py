import pytest
import torch

from anacp.learners.calibration import MixedDraws, log_positive_part, mixed_draws, sharpness
from anacp.statistics import ClassMoments, nothing


def certain(classes: torch.Tensor) -> MixedDraws:
    return MixedDraws(torch.empty(0), classes, classes, torch.zeros(len(classes)))


def test_sharpness_is_the_maximum_of_the_likelihood() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(5000, 7, generator=generator, dtype=torch.float64)
    classes = torch.multinomial(torch.softmax(3.0 * scores, 1), 1, generator=generator).squeeze(1)
    beta = sharpness(scores, certain(classes))
    assert beta == pytest.approx(3.0, rel=0.1)

    def likelihood(value: float) -> float:
        return float(torch.log_softmax(value * scores, 1).gather(1, classes[:, None]).mean())

    assert likelihood(beta) > max(likelihood(0.99 * beta), likelihood(1.01 * beta))


@pytest.mark.parametrize("scores", [torch.zeros(4, 3), torch.eye(4)[:, :3], -torch.eye(3)])
def test_sharpness_of_hopeless_scores_is_finite(scores: torch.Tensor) -> None:
    beta = sharpness(scores, certain(torch.arange(len(scores)) % 3))
    assert 0 < beta < float("inf")


def test_mixed_draws_lie_between_a_class_and_its_nearest() -> None:
    x = torch.tensor([[10.0, 0.0], [10.0, 1.0], [0.0, 10.0]])
    moments = ClassMoments(2).at(*nothing("cpu"), 3).plus(x, torch.arange(3))  # one example a class: no noise
    draws = mixed_draws(moments, 300, seed=0)
    assert len(draws.rows) == 300
    assert set(zip(draws.first.tolist(), draws.second.tolist(), strict=True)) == {(0, 1), (1, 0), (2, 1)}
    assert draws.share.min() >= 0
    assert draws.share.max() <= 0.5
    expected = torch.lerp(moments.means[draws.first], moments.means[draws.second], draws.share[:, None])
    torch.testing.assert_close(draws.rows, expected, atol=1e-3, rtol=0)


def test_log_positive_part() -> None:
    scores = torch.linspace(-3, 3, 1001)
    evidence = log_positive_part(scores)
    assert torch.isfinite(evidence).all()
    assert (evidence.diff() > 0).all()
    large = scores > 0.2
    torch.testing.assert_close(evidence[large].exp() * 0.02, scores[large], rtol=1e-4, atol=0)
