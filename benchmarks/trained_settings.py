"""Settings of the gradient-trained methods for MiniLM, compared on the validation split of CLINC150.

    python benchmarks/trained_settings.py DATA.json [--tasks 3] "L2P rate=0.1 epochs=2" ["DualPrompt rate=0.1" ...]

Seed 0. The test split is not looked at. Seconds are the processor's, so that other work on the machine does not count.
"""

import argparse
import json
from itertools import islice
from pathlib import Path
from time import process_time

from anacp.backbones import backbone
from anacp.catalogue import METHODS
from anacp.datasets import open_dataset
from anacp.experiments import follow
from anacp.scenarios import ClassIncremental


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("candidates", nargs="+")
    parser.add_argument("--tasks", type=int, help="stop after so many of the ten tasks; joint methods always see all")
    options = parser.parse_args()
    data, encoder = open_dataset(options.data), backbone("minilm-l6")
    scenario = ClassIncremental(data.train.labels, seed=0)
    print("| method | parameters | validation accuracy | seconds |\n|---|---|---|---|", flush=True)
    for candidate in options.candidates:
        name, *stated = candidate.split()
        entry, pairs = METHODS.find(name), (one.partition("=") for one in stated)
        model = entry.new(encoder, **{key: json.loads(value) for key, _, value in pairs})
        started = process_time()
        steps = follow(model, data.train, data.validation, scenario, joint=entry.joint)
        *_, last = islice(steps, 1 if entry.joint else options.tasks)
        seconds = process_time() - started
        print(f"| {name} | {', '.join(stated)} | {last.step.accuracy:.2f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
