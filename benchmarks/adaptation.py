"""What first-session adaptation does to AnaCP, APER and RanPAC: MiniLM on CLINC150, 10 tasks in the paper's order.

    python benchmarks/adaptation.py DATA.json [--seeds 0 1 2] [--recipe dinov2] [--output benchmarks/results/adaptation]
    python benchmarks/adaptation.py DATA.json --choose HEAD/PARTS [HEAD/PARTS ...]

Prints the Markdown table and writes it to OUTPUT/table.md. Seconds are the processor's, so that other work on the
machine does not count; set OMP_NUM_THREADS=1 to read them as waiting time on one idle core. Features, adaptations and
finished runs are kept in OUTPUT and not made again; of a stage that was interrupted, only the rest is timed.

With --choose, learning rates are compared on the validation split instead and the test split is not looked at: AnaCP
(D = 2000) learns 30 training sentences a class and is scored on the validation sentences.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import process_time

import numpy as np

from anacp import NCM, AnaCP, RanPAC
from anacp.adaptation import Adaptation, Recipe, adapt, recipe
from anacp.atomic import replacing
from anacp.backbones import Backbone, backbone
from anacp.datasets import Dataset, Examples, open_dataset
from anacp.experiments import Run, Step, rows, run
from anacp.features import FeatureStore, features_of
from anacp.learners import Learner
from anacp.scenarios import ClassIncremental

N_RANPAC, N_CHOOSING, ROWS_CHOOSING = 5000, 2000, 30
METHODS: dict[str, Callable[[int], Learner]] = {
    "APER": lambda seed: NCM(random_state=seed),
    "RanPAC": lambda seed: RanPAC(n_projected=N_RANPAC, random_state=seed),
    "AnaCP": lambda seed: AnaCP(random_state=seed),
}


class Stage:
    """Seconds of each stage, kept on disk beside what it made: a stage that is found there keeps its first time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: dict[str, float] = json.loads(path.read_text()) if path.is_file() else {}

    def timed(self, name: str, work: Callable[[], np.ndarray | Adaptation]):
        started = process_time()
        result = work()
        if name not in self.seconds:
            self.seconds[name] = process_time() - started
            with replacing(self.path) as temporary:
                temporary.write_text(json.dumps(self.seconds, indent=1))
            print(f"{name}: {self.seconds[name]:.0f} s", flush=True)
        return result


def adaptation_of(frozen: Backbone, data: Dataset, chosen: Recipe, seed: int, path: Path) -> Adaptation:
    if path.is_file():
        return Adaptation.load(path)
    scenario = ClassIncremental(data.train.labels, seed=seed)
    first = data.train.take(next(iter(scenario.tasks(data.train.labels))).rows)

    def report(step) -> None:
        if step.step == step.n_steps:
            print(
                f"  seed {seed}, epoch {step.epoch}: loss {step.loss:.4f}, accuracy {step.accuracy:.1f}, "
                f"{step.seconds:.0f} s",
                flush=True,
            )

    adaptation = adapt(
        frozen, first.items, first.labels, recipe=chosen, seed=seed, checkpoints=path.parent, progress=report
    )
    adaptation.save(path)
    return adaptation


def choose(data: Dataset, frozen: Backbone, rates: list[str], seeds: list[int], output: Path) -> None:
    rows_of = [np.flatnonzero(data.train.labels == label)[:ROWS_CHOOSING] for label in data.classes]
    train = data.train.take(np.concatenate(rows_of))
    store = FeatureStore(output / "features")

    def score(encoder: Backbone, seed: int) -> float:
        x = features_of(encoder, [*train.items, *data.validation.items], store=store).x
        model = AnaCP(n_projected=N_CHOOSING, random_state=seed).partial_fit(x[: len(train)], train.labels)
        return 100 * model.score(x[len(train) :], data.validation.labels)

    print("| head / adapters | " + " | ".join(f"seed {seed}" for seed in seeds) + " | mean |", flush=True)
    print("|---|" + "---|" * (len(seeds) + 1))
    for pair in ("frozen", *rates):
        scores = []
        for seed in seeds:
            encoder = frozen
            if pair != "frozen":
                head, parts = map(float, pair.split("/"))
                tried = Recipe(f"choosing {pair}", head_rate=head, parts_rate=parts)
                path = output / "choosing" / f"{pair.replace('/', '-')}-seed{seed}.safetensors"
                encoder = adaptation_of(frozen, data, tried, seed, path).apply(frozen)
            scores.append(score(encoder, seed))
        cells = " | ".join(f"{value:.2f}" for value in (*scores, np.mean(scores)))
        print(f"| {pair.replace('/', ' / ')} | {cells} |", flush=True)


def measure(data: Dataset, frozen: Backbone, chosen: Recipe, seeds: list[int], output: Path) -> str:
    store = FeatureStore(output / "features")
    texts = [*data.train.items, *data.test.items]
    shared = Stage(output / "frozen.json")
    x_frozen = shared.timed("features", lambda: features_of(frozen, texts, store=store).x)
    # What needs no adaptation comes first, so that a second process may adapt meanwhile.
    runs = [
        one(make(seed), x_frozen, data, seed, f"{name} without", output)
        for seed in seeds
        for name, make in METHODS.items()
    ]
    stages = []
    for seed in seeds:
        stage = Stage(output / f"{chosen.name}-seed{seed}.json")
        path = output / "adaptations" / f"{chosen.name}-seed{seed}.safetensors"
        if not path.is_file():
            stage.timed("adapt", lambda: adaptation_of(frozen, data, chosen, seed, path))  # noqa: B023
        adapted = Adaptation.load(path).apply(frozen)
        x_adapted = stage.timed("features", lambda: features_of(adapted, texts, store=store).x)  # noqa: B023
        stages.append(stage.seconds)
        for name, make in METHODS.items():
            x = np.hstack([x_frozen, x_adapted]) if name == "APER" else x_adapted
            runs.append(one(make(seed), x, data, seed, f"{name} {chosen.name}", output))
    return table(runs, stages, shared.seconds["features"], chosen, data)


def one(learner: Learner, x: np.ndarray, data: Dataset, seed: int, title: str, output: Path) -> tuple[Run, float]:
    path = output / "runs" / f"{title.replace(' ', '-')}-seed{seed}.json"
    if path.is_file():
        kept = json.loads(path.read_text())
        steps = [Step(**step | {"accuracies": tuple(step["accuracies"])}) for step in kept["steps"]]
    else:
        n = len(data.train)
        train, test = Examples(x[:n], data.train.labels), Examples(x[n:], data.test.labels)
        features = Dataset(data.name, "features", train, test, data.card)
        started = process_time()
        steps = list(run(learner, features, ClassIncremental(data.train.labels, seed=seed)))
        kept = {"seconds": process_time() - started, "steps": [asdict(step) for step in steps]}
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(kept, indent=1))
    print(f"{title}, seed {seed}: A_last {steps[-1].accuracy:.2f}", flush=True)
    return Run(title, seed, tuple(steps)), kept["seconds"]


def table(
    timed: list[tuple[Run, float]], stages: list[dict[str, float]], frozen_seconds: float, chosen: Recipe, data: Dataset
) -> str:
    runs = [run for run, _ in timed]
    adapting, features = (
        float(np.mean([stage[name] for stage in stages if name in stage])) for name in ("adapt", "features")
    )
    n_texts = len(data.train) + len(data.test)
    lines = [
        "| method | adaptation | A_last | A_avg | adapt | features | learn, solve, predict |",
        "|---|---|---|---|---|---|---|",
    ]
    by_title = {row.method: row for row in rows(runs)}
    for name in METHODS:
        for kind in ("without", chosen.name):
            row = by_title[f"{name} {kind}"]
            both = frozen_seconds + features if name == "APER" and kind != "without" else features
            learning = np.mean([seconds for run, seconds in timed if run.method == row.method])
            seconds = ("–", f"{frozen_seconds:.0f} s") if kind == "without" else (f"{adapting:.0f} s", f"{both:.0f} s")
            lines.append(
                f"| {name} | {kind} | {row.a_last:.2f} ± {row.a_last_std:.2f} | {row.a_avg:.2f} ± {row.a_avg_std:.2f} "
                f"| {seconds[0]} | {seconds[1]} | {learning:.0f} s |"
            )
    seeds = sorted({one.seed for one in runs})
    lines.append(
        f"\nMiniLM on {data.name}, {n_texts:,} texts, seeds {', '.join(map(str, seeds))}; RanPAC with D = {N_RANPAC}; "
        f"recipe {chosen.name}: head {chosen.head_rate:g}, adapters {chosen.parts_rate:g}, {chosen.epochs} epochs."
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--recipe", default="dinov2")
    parser.add_argument("--choose", nargs="+", metavar="HEAD/PARTS")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "adaptation")
    options = parser.parse_args()
    data, frozen = open_dataset(options.data), backbone("minilm-l6")
    if options.choose:
        choose(data, frozen, options.choose, options.seeds, options.output)
        return
    text = measure(data, frozen, recipe(options.recipe), options.seeds, options.output)
    (options.output / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
