from anacp.experiments.comparison import rows
from anacp.experiments.results import load_runs
from tests.reports.folders import write_run


def test_seeds_become_one_row_with_the_times_of_the_quickest(tmp_path) -> None:
    for seed, learn in enumerate([30.0, 10.0, 20.0]):
        stages = {"adapt": 1.0, "features": 5.0, "learn": learn, "solve": 0.5, "predict": 3.0 - seed}
        write_run(tmp_path / str(seed), seed=seed, seconds=stages)
    (row,) = rows(load_runs(tmp_path))
    assert row.n_seeds == 3
    assert (row.update_seconds, row.predict_seconds) == (10.5, 2.0)
