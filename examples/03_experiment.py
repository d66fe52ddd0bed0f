"""An experiment: methods over the same ten tasks, resumed if it was interrupted, and a page of what came out."""

from anacp.experiments import Specification, load_runs, sweep
from anacp.reports import report

METHODS = {"NCM": {}, "SLDA": {}, "AnaCP": {"n_projected": 500}}

if __name__ == "__main__":  # workers are new processes, which read this file
    runs = [
        Specification("sample:clinc150", method, parameters, seed=seed, keep_model=False)
        for method, parameters in METHODS.items()
        for seed in (0, 1)
    ]
    list(sweep(runs, "experiment"))  # yields how far it is, for a progress bar
    for result in load_runs("experiment"):
        print(f"{result.title} seed {result.seed}: A_last {result.metrics['A_last']:.1f} %")
    print(*report(["experiment"], "experiment/report.html"))
