"""How well what was never learned is told from what was: a learner's defaults, thresholds from its own statistics.

.venv/bin/python benchmarks/unknown.py sample:clinc150 sample:cifar100 [FILE.npz …] [clinc150]
    [--backbone mpnet-base] [--layers auto] [--learner AveragedAnaCP]

`clinc150` stands for all its texts (ANACP_DATA says where they are) through a backbone, with its out-of-scope queries.
Where a set has no such rows, every second class is learned and the others are unknown, in test rows alike.
"""

import argparse
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from anacp.datasets import open_dataset
from anacp.encoders import Encoder, FeatureStore
from anacp.evaluation import accuracy_with_rejection, auroc, false_positive_rate
from anacp.learners import BY
from anacp.methods import find_method
from anacp.methods.choosing_layers import chosen_layers, computing_all

HEAD = "set · measure · kept of 95 % · of 80 % · unknown found · right with rejection · AUROC · false positives at 95 %"


@dataclass(frozen=True)
class Rows:
    """What is learned, and what is asked."""

    x: Any
    y: Any
    known: Any
    labels: Any
    unknown: Any


def rows_of(name: str, backbone: str, layers: str) -> Rows:
    data = open_dataset(name)
    encoder, store = Encoder(backbone, layers=layers), FeatureStore()
    if data.modality == "text" and encoder.undecided:
        found = computing_all(encoder).encode(list(data.train.items), store=store)
        encoder = chosen_layers(encoder, found.x, data.train.labels, found.digests)

    def features(part: Any) -> Any:
        return encoder.encode(list(part.items), store=store).x if data.modality == "text" else np.asarray(part.items)

    if len(data.unknown):
        train, test = data.train, data.test
        return Rows(features(train), train.labels, features(test), test.labels, features(data.unknown))
    taught = np.unique(data.train.labels)[::2]
    train, here = data.train.take(np.isin(data.train.labels, taught)), np.isin(data.test.labels, taught)
    test, strange = data.test.take(here), data.test.take(~here)
    return Rows(features(train), train.labels, features(test), test.labels, features(strange))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=["sample:clinc150", "sample:cifar100"])
    parser.add_argument("--backbone", default="minilm-l6")
    parser.add_argument("--layers", default="last", choices=["last", "auto"])
    parser.add_argument("--learner", default="AnaCP")
    options = parser.parse_args()
    print(HEAD)
    for name in options.data:
        rows = rows_of(name, options.backbone, options.layers)
        model = find_method(options.learner).new().partial_fit(rows.x, rows.y).solve(probabilities=True)
        start = perf_counter()
        model.solve(unknown=True)
        seconds = perf_counter() - start
        correct = model.predict(rows.known) == rows.labels
        for by in BY:
            known, unknown = (model.familiarity(one, by=by) for one in (rows.known, rows.unknown))
            figures = (
                (known >= 0).mean(),
                (model.familiarity(rows.known, keep=0.8, by=by) >= 0).mean(),
                (unknown < 0).mean(),
                accuracy_with_rejection(correct, known, unknown),
                auroc(known, unknown),
                false_positive_rate(known, unknown),
            )
            print(" · ".join([name, by, *(f"{100 * figure:.1f}" for figure in figures)]), flush=True)
        print(
            f"  {len(known):,} known and {len(unknown):,} unknown rows, thresholds set in {seconds:.1f} s", flush=True
        )


if __name__ == "__main__":
    main()
