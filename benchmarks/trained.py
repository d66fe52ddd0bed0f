"""The gradient-trained methods for real: MiniLM on CLINC150, 10 tasks in the paper's order.

    python benchmarks/trained.py DATA.json [--methods L2P ...] [--seeds 0 1 2] [--settings minilm] [--jobs 2]
    python benchmarks/trained.py DATA.json --choose "L2P rate=0.1 epochs=2" ["DualPrompt rate=0.1" ...]

Prints the Markdown table and writes it to OUTPUT/table.md; with --table, of the runs that are finished, without running
anything. Every run is a process of its own, so that its peak memory is its own; a run that was killed goes on inside
the task where it stood, and a finished one is not repeated unless its parameters have changed. Seconds are the
processor's, so that other work on the machine does not count; set OMP_NUM_THREADS=1 to read them as waiting time on one
idle core. Of a task that was interrupted, only the rest is timed.

With --choose, parameters are compared on the validation split instead and the test split is not looked at: seed 0, the
first three tasks (45 classes) for methods that learn task by task, all for joint ones.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time

import numpy as np

from anacp.atomic import replacing
from anacp.backbones import backbone
from anacp.datasets import Dataset, Examples, open_dataset
from anacp.learners.summary import format_bytes
from anacp.methods.trained import TRAINED, TrainedMethod, settings, trained
from anacp.scenarios import ClassIncremental

N_CHOOSING = 3


def run(data: Dataset, test: Examples, name: str, seed: int, parameters: dict, path: Path, n_tasks: int) -> dict:
    """One method with one seed through the first tasks; `path` is a folder of its own, from which it resumes."""
    result, progress, model_file = path / "result.json", path / "progress.json", path / "model.anacp"
    for file in (result, progress):
        if file.is_file() and json.loads(file.read_text()).get("parameters") != parameters:
            shutil.rmtree(path)  # of settings that have changed since
    if result.is_file():
        return json.loads(result.read_text())
    scenario = ClassIncremental(data.train.labels, seed=seed)
    tasks = [data.train.take(task.rows) for task in scenario.tasks(data.train.labels)]
    tests = [test.take(task.rows) for task in scenario.test_tasks(test.labels)]
    kept = {"method": name, "seed": seed, "parameters": parameters, "accuracies": []}
    kept |= {"learn": 0.0, "predict": 0.0, "peak_memory": 0}
    kind, encoder = trained(name), backbone("minilm-l6")
    model: TrainedMethod = kind(encoder, seed=seed, checkpoints=path / "checkpoints", **parameters)
    if progress.is_file():
        kept = json.loads(progress.read_text())
        model = kind.load(model_file, backbone=encoder, checkpoints=path / "checkpoints")
    if kind.joint:
        labels = np.concatenate([task.labels for task in tasks])
        tasks = [Examples([item for task in tasks for item in task.items], labels)]
    for index, task in list(enumerate(tasks[:n_tasks]))[len(kept["accuracies"]) :]:
        started = process_time()
        model.learn(task.items, task.labels, progress=lambda share, words: None)
        kept["learn"] += process_time() - started
        seen = tests if kind.joint else tests[: index + 1]
        started = process_time()
        predictions = model.predict([item for one in seen for item in one.items])
        kept["predict"] += process_time() - started
        parts = np.split(predictions, np.cumsum([len(one) for one in seen])[:-1])
        right = [100 * float(np.mean(part == one.labels)) for part, one in zip(parts, seen, strict=True)]
        kept["accuracies"].append(right)
        kept["state_bytes"] = sum(part.bytes for part in model.parts())
        kept["peak_memory"] = max(kept["peak_memory"], 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        print(f"{name}, seed {seed}, task {index}: {np.mean(right):.2f}, {kept['learn']:.0f} s", flush=True)
        model.save(model_file)
        write(progress, kept)
    write(result, kept)
    return kept


def write(path: Path, content: dict) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1))


def choose(data: Dataset, candidates: list[str], output: Path) -> None:
    print("| method | parameters | validation accuracy | learn |\n|---|---|---|---|", flush=True)
    for candidate in candidates:
        name, *stated = candidate.split()
        parameters = {key: json.loads(value) for key, _, value in (one.partition("=") for one in stated)}
        folder = output / "choosing" / "-".join([name, *stated]).replace('"', "")
        kept = run(data, data.validation, name, 0, parameters, folder, N_CHOOSING)
        last = np.mean(kept["accuracies"][-1])
        print(f"| {name} | {', '.join(stated)} | {last:.2f} | {kept['learn']:.0f} s |", flush=True)


def table(runs: list[dict], chosen: str) -> str:
    lines = [
        "| method | A_last | A_avg | forgetting | learn | predict | stored | peak memory | seeds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(one["method"] for one in runs):
        mine = [one for one in runs if one["method"] == name]
        last = [np.mean(one["accuracies"][-1]) for one in mine]
        average = [np.mean([np.mean(row) for row in one["accuracies"]]) for one in mine]
        dropped = [forgetting(one["accuracies"]) for one in mine]
        joint = TRAINED[name].joint
        lines.append(
            f"| {name} | {spread(last)} | {'–' if joint else spread(average)} | {'–' if joint else spread(dropped)} "
            f"| {np.mean([one['learn'] for one in mine]):.0f} s | {np.mean([one['predict'] for one in mine]):.0f} s "
            f"| {format_bytes(np.mean([one['state_bytes'] for one in mine]))} "
            f"| {format_bytes(max(one['peak_memory'] for one in mine))} | {len(mine)} |"
        )
    lines.append(f"\nMiniLM on CLINC150, 10 tasks, settings {chosen}; mean ± standard deviation over seeds.")
    return "\n".join(lines) + "\n"


def forgetting(accuracies: list[list[float]]) -> float:
    last = accuracies[-1]
    drops = [max(row[task] for row in accuracies[task:]) - last[task] for task in range(len(accuracies) - 1)]
    return float(np.mean(drops)) if drops else 0.0


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--methods", nargs="+", default=list(TRAINED))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--settings", default="minilm")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--choose", nargs="+", metavar="CANDIDATE")
    parser.add_argument("--table", action="store_true", help="show what is finished")
    parser.add_argument("--one", action="store_true", help="run the first method and seed in this process")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "trained")
    options = parser.parse_args()
    if options.choose:
        choose(open_dataset(options.data), options.choose, options.output)
        return
    wanted = [(trained(name).__name__, seed) for seed in options.seeds for name in options.methods]

    def folder(name: str, seed: int) -> Path:
        return options.output / options.settings / f"{name}-seed{seed}"

    if options.one:
        (name, seed), data = wanted[0], open_dataset(options.data)
        run(data, data.test, name, seed, settings(options.settings, name), folder(name, seed), 10)
        return

    def spawn(pair: tuple[str, int]) -> None:
        stated = ["--methods", pair[0], "--seeds", str(pair[1]), "--settings", options.settings, "--one"]
        command = [sys.executable, __file__, str(options.data), *stated, "--output", str(options.output)]
        subprocess.run(command, check=True)

    if not options.table:
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(spawn, wanted))
    results = [folder(*pair) / "result.json" for pair in wanted]
    text = table([json.loads(path.read_text()) for path in results if path.is_file()], options.settings)
    (options.output / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
