"""What first-session adaptation does to AnaCP, APER and RanPAC: MiniLM on CLINC150, 10 tasks in the paper's order.

    python benchmarks/adaptation.py DATA.json [--seeds 0 1 2] [--recipe minilm] [--output benchmarks/results/adaptation]
    python benchmarks/adaptation.py DATA.json --choose HEAD/PARTS [HEAD/PARTS ...]

Prints the Markdown table and writes it to OUTPUT/table.md. Seconds are those of a clock when each stage was computed:
run it on an idle machine, with OMP_NUM_THREADS=1 for one core. Features and adaptations are kept in ANACP_HOME, runs
in OUTPUT; none is made again.

With --choose, learning rates are compared on the validation split instead and the test split is not looked at: AnaCP
learns all training sentences and is scored on the validation sentences.
"""

import argparse
from pathlib import Path

import numpy as np

from anacp import AnaCP
from anacp.adaptation import Adaptation, Recipe, adapt
from anacp.backbones import Backbone, backbone
from anacp.datasets import Dataset, open_dataset
from anacp.encoders import Encoder, FeatureStore
from anacp.experiments import Failed, Finished, RunResult, Specification, compared, sweep
from anacp.progress import Progress
from anacp.scenarios import ClassIncremental

N_RANPAC = 5000
METHODS = {"APER": ("NCM", {}), "RanPAC": ("RanPAC", {"n_projected": N_RANPAC}), "AnaCP": ("AnaCP", {})}


def adaptation_of(frozen: Backbone, data: Dataset, chosen: Recipe, seed: int, path: Path) -> Adaptation:
    if path.is_file():
        return Adaptation.load(path)
    scenario = ClassIncremental(data.train.labels, seed=seed)
    first = data.train.take(next(iter(scenario.tasks(data.train.labels))).rows)

    def report(progress: Progress) -> None:
        print(f"  seed {seed}, {progress.words}", end="\r", flush=True)

    adaptation = adapt(
        frozen, first.items, first.labels, recipe=chosen, seed=seed, checkpoints=path.parent, report=report
    )
    adaptation.save(path)
    return adaptation


def choose(data: Dataset, frozen: Backbone, rates: list[str], seeds: list[int], output: Path) -> None:
    store = FeatureStore(output / "features")

    def score(encoder: Backbone, seed: int) -> float:
        parts = (data.train, data.validation)
        train, validation = (Encoder(encoder).encode(part.items, store=store).x for part in parts)
        model = AnaCP(random_state=seed).partial_fit(train, data.train.labels)
        return 100 * model.score(validation, data.validation.labels)

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


def measure(path: Path, chosen: str, seeds: list[int], output: Path) -> str:
    runs = [
        Specification(
            str(path),
            method,
            parameters,
            title=f"{name} {kind}",
            backbone="minilm-l6",
            adaptation=None if kind == "without" else chosen,
            concatenate=kind != "without" and name == "APER",
            seed=seed,
            keep_model=False,
        )
        for kind in ("without", chosen)
        for seed in seeds
        for name, (method, parameters) in METHODS.items()
    ]
    results = []
    for status in sweep(runs, output / "runs", jobs=1):
        if isinstance(status.event, Finished):
            results.append(status.event.result)
            print(f"{results[-1].title}, seed {results[-1].seed}: {results[-1].metrics['A_last']:.2f}", flush=True)
        elif isinstance(status.event, Failed):
            raise SystemExit(status.event.error)
    return table(results)


def table(results: list[RunResult]) -> str:
    lines = [
        "| method | adaptation | A_last | A_avg | adapt | features | learn, solve, predict |",
        "|---|---|---|---|---|---|---|",
    ]
    by_title = {row.method: row for row in compared(results)}
    for title in sorted(by_title, key=lambda title: list(METHODS).index(title.split()[0])):
        row, own = by_title[title], [result for result in results if result.title == title]
        spent = {kind: np.mean([result.seconds[kind] for result in own]) for kind in own[0].seconds}
        adapting = f"{spent['adapt']:.0f} s" if own[0].adaptation else "–"
        lines.append(
            f"| {' | '.join(title.split())} | {row.a_last:.2f} ± {row.a_last_std:.2f} "
            f"| {row.a_avg:.2f} ± {row.a_avg_std:.2f} | {adapting} | {spent['features']:.0f} s "
            f"| {spent['learn'] + spent['solve'] + spent['predict']:.0f} s |"
        )
    data, seeds = results[0].dataset, sorted({result.seed for result in results})
    lines.append(
        f"\nMiniLM on {data['name']}, {data['n_train'] + data['n_test']:,} texts, seeds {', '.join(map(str, seeds))}; "
        f"RanPAC with D = {N_RANPAC}."
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--recipe", default="minilm")
    parser.add_argument("--choose", nargs="+", metavar="HEAD/PARTS")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "adaptation")
    options = parser.parse_args()
    if options.choose:
        choose(open_dataset(options.data), backbone("minilm-l6"), options.choose, options.seeds, options.output)
        return
    text = measure(options.data, options.recipe, options.seeds, options.output)
    (options.output / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
