"""A few of the random sequences; `python -m tests.fuzz.sequences N SEED` runs more of them."""

from tests.fuzz.sequences import run_sequences


def test_random_sequences_are_exact_or_refused() -> None:
    figures = run_sequences(150, seed=3)
    assert figures.sequences == 150
    assert figures.compared > 75
    assert any("unlearn" in name for name in figures.refusals)
    assert any("learn" in name for name in figures.refusals)
    assert sum(figures.refusals.values()) < sum(figures.operations.values()) / 4
