"""What `AveragedAnaCP` and more layers bring over AnaCP as in the paper, on the same data, three seeds each.

    .venv/bin/python benchmarks/accuracy.py DATA [--backbone NAME] [--seeds 0 1 2] [--seconds 500]

DATA is a file of features (xtr, ytr, xte, yte), `sample:clinc150` or `sample:cifar100`, or, with --backbone, what
`anacp run --dataset` takes, of images or texts. All classes are learned, then the test items predicted. Prints a table
of docs/accuracy.md. Features are kept in ANACP_HOME, scores in OUTPUT; none is made again, and with --seconds the
command stops after so long, to go on when it is given again.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from anacp import AnaCP, AveragedAnaCP, load_sample
from anacp.datasets import open_dataset
from anacp.encoders import Encoder
from anacp.paper import AS_PRINTED
from layers import Material

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def feature_rows(source: str) -> Rows:
    if source.startswith("sample:"):
        sample = load_sample(source.removeprefix("sample:"))
        return sample.x_train, sample.y_train, sample.x_test, sample.y_test
    arrays = np.load(source)
    return arrays["xtr"].astype(np.float32), arrays["ytr"], arrays["xte"].astype(np.float32), arrays["yte"]


def sources(options: argparse.Namespace) -> dict[str, Callable[[], Rows]]:
    """Return where features come from: the last layer, and those that the training items choose."""
    if not options.backbone:
        return {"last layer": lambda: feature_rows(options.data)}
    material = Material(open_dataset(options.data), Encoder(options.backbone, layers="auto"))
    chosen, choice, seconds = material.chosen()
    print(f"{choice.words(chosen)}; {seconds:.1f} s", flush=True)
    train, test = material.data.train.labels, material.data.test.labels

    def rows(layers: tuple) -> Rows:
        return material.features("train", layers), train, material.features("test", layers), test

    last = material.encoder.backbone.choices[0]
    return {"last layer": lambda: rows(last), "layers chosen": lambda: rows(chosen)}


def models(seed: int) -> dict[str, Any]:
    return {
        "AnaCP as in the paper": AnaCP(random_state=seed, **AS_PRINTED),
        "AnaCP": AnaCP(random_state=seed),
        "AveragedAnaCP, paper's targets": AveragedAnaCP(random_state=seed, targets="paper"),
        "AveragedAnaCP, released code's targets": AveragedAnaCP(random_state=seed, targets="reference"),
        "AveragedAnaCP": AveragedAnaCP(random_state=seed),
    }


def score(model: Any, rows: Rows) -> dict[str, float]:
    x, y, x_test, y_test = rows
    start = perf_counter()
    model.partial_fit(x, y).solve()
    seconds = perf_counter() - start
    kept = sum(part.bytes for part in model.parts())
    return {"accuracy": 100 * model.score(x_test, y_test), "seconds": seconds, "megabytes": kept / 1e6, "d": x.shape[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--backbone")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--models", nargs="+", choices=list(models(0)), default=list(models(0)))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "accuracy")
    options = parser.parse_args()
    name = "-".join(filter(None, [options.backbone, Path(options.data.replace(":", "-")).stem]))
    began, path = perf_counter(), options.output / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.is_file() else {}
    made = sources(options)
    wanted = [(where, title) for where in made for title in options.models]
    wanted = [one for one in wanted if one != ("layers chosen", "AnaCP as in the paper")]
    for seed in options.seeds:
        for where, title in wanted:
            key = f"{title} | {where} | {seed}"
            if key not in known:
                known[key] = score(models(seed)[title], made[where]())
                path.write_text(json.dumps(known, indent=1))
            if perf_counter() - began > options.seconds:
                raise SystemExit("not done yet: run it again")
    print("| method | features | d | accuracy | over the paper's | learn and solve | kept |")
    print("|---|---|---|---|---|---|---|")
    base = np.mean([known[f"AnaCP as in the paper | last layer | {seed}"]["accuracy"] for seed in options.seeds])
    for where, title in wanted:
        own = [known[f"{title} | {where} | {seed}"] for seed in options.seeds]
        found = np.array([one["accuracy"] for one in own])
        seconds, size = np.mean([one["seconds"] for one in own]), own[0]["megabytes"]
        accuracy = f"{found.mean():.2f} ± {found.std():.2f} | {found.mean() - base:+.2f}"
        print(f"| {title} | {where} | {own[0]['d']} | {accuracy} | {seconds:.1f} s | {size:.0f} MB |")


if __name__ == "__main__":
    main()
