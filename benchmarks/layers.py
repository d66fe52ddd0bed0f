"""What more layers of a frozen backbone bring: AnaCP on the last one, two, three and four, and which the data choose.

    .venv/bin/python benchmarks/layers.py DATA --backbone NAME [--seeds 0 1 2] [--seconds 150]

DATA is what `anacp run --dataset` takes, of images or texts. All classes are learned with AnaCP's defaults, then the
test items predicted; beside it AnaCP as in the paper (drawn replay, dense random matrices) on the last layer. The
choice is made from the training items alone, as `layers="auto"` makes it. Prints a table of docs/layers.md. Features
are kept in ANACP_HOME, scores in OUTPUT; none is made again, and with --seconds the command stops after so long, to go
on when it is given again.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from anacp import AnaCP
from anacp.datasets import Dataset, open_dataset
from anacp.encoders import Encoder, FeatureStore, LayerChoice
from anacp.encoders.choice import layer_names
from anacp.methods.choosing_layers import chosen_layers, computing_all, selected
from anacp.paper import AS_PRINTED


class Material:
    """All layers of the items, computed when they are first asked for."""

    def __init__(self, data: Dataset, encoder: Encoder) -> None:
        self.data, self.encoder = data, encoder
        self._all: dict[str, tuple[np.ndarray, list[bytes]]] = {}

    def computed(self, name: str) -> tuple[np.ndarray, list[bytes]]:
        if name not in self._all:
            items = list(getattr(self.data, name).items)
            found = computing_all(self.encoder).encode(items, store=FeatureStore())
            self._all[name] = found.x, found.digests
        return self._all[name]

    def features(self, name: str, layers: tuple) -> np.ndarray:
        return selected(self.encoder, self.computed(name)[0], layers)

    def chosen(self) -> tuple[tuple, LayerChoice, float]:
        x, digests = self.computed("train")
        start = perf_counter()
        found = chosen_layers(self.encoder, x, self.data.train.labels, digests)
        return found.origin.layers, found.choice, perf_counter() - start


def score(material: Material, layers: tuple, seed: int, parameters: dict) -> dict[str, float]:
    train, test = (material.features(name, layers) for name in ("train", "test"))
    start = perf_counter()
    model = AnaCP(random_state=seed, **parameters).partial_fit(train, material.data.train.labels).solve()
    seconds = perf_counter() - start
    return {"accuracy": 100 * model.score(test, material.data.test.labels), "seconds": seconds, "d": train.shape[1]}


def rows(choices: tuple) -> Iterator[tuple[str, tuple, dict]]:
    yield "as in the paper, last", choices[0], AS_PRINTED
    for layers in choices:
        yield layer_names(layers), layers, {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--backbone", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "layers")
    options = parser.parse_args()
    began, path = perf_counter(), options.output / f"{options.backbone}-{Path(options.data).stem}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.is_file() else {}
    material = Material(open_dataset(options.data), Encoder(options.backbone, layers="auto"))
    layers, choice, seconds = material.chosen()
    print(f"{choice.words(layers)}; {seconds:.1f} s", flush=True)
    wanted = list(rows(material.encoder.backbone.choices))
    for seed in options.seeds:
        for title, used, parameters in wanted:
            if f"{title} {seed}" not in known:
                known[f"{title} {seed}"] = score(material, used, seed, parameters)
                path.write_text(json.dumps(known, indent=1))
            if perf_counter() - began > options.seconds:
                raise SystemExit("not done yet: run it again")
    print("| layers | features | accuracy | learn and solve |\n|---|---|---|---|")
    for title, used, _ in wanted:
        own = [known[f"{title} {seed}"] for seed in options.seeds]
        found = np.array([one["accuracy"] for one in own])
        mark = " (auto)" if title == layer_names(layers) and used == layers else ""
        spent = np.mean([one["seconds"] for one in own])
        print(f"| {title}{mark} | {own[0]['d']} | {found.mean():.2f} ± {found.std():.2f} | {spent:.1f} s |")


if __name__ == "__main__":
    main()
