"""The same classes in one surrounding after another: every closed-form row of Table 1, beside all domains at once.

    .venv/bin/python benchmarks/domains.py DOMAINS.zip [--output anacp-domains] [--seeds 0 1 2]

DOMAINS.zip, or a folder, holds DOMAIN/CLASS/picture. A fifth of each class in each domain is for testing. The pictures
become EfficientNet-Lite0 features (kept in ANACP_HOME); each seed brings the domains in another order. Prints the table
of docs/results.md. Runs are kept in OUTPUT, and none is made again.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from anacp.datasets.folder import class_folders, image_tree
from anacp.datasets.splits import split_per_class
from anacp.encoders import Encoder, FeatureStore
from anacp.experiments import Failed, RunResult, ScenarioSettings, Specification, load_runs, plan, sweep

BACKBONE = "efficientnet-lite0"


def write_features(source: Path, folder: Path) -> tuple[str, str]:
    """Write features and domains as an experiment takes them; return the two files."""
    tree, names, _ = image_tree(source)
    domains = sorted({name.split("/")[0] for name in names})
    parts = [class_folders(tree, names, domain) for domain in domains]
    items = [item for part in parts for item in part.items]
    y = np.concatenate([part.labels for part in parts])
    domain_of = np.repeat(domains, [len(part) for part in parts])
    groups = np.char.add(np.char.add(domain_of, "/"), y.astype(str))
    train, test = split_per_class(groups, test_share=0.2, role="domains/split")
    x = Encoder(BACKBONE).encode(items, store=FeatureStore()).x
    folder.mkdir(parents=True, exist_ok=True)
    features, told = folder / "domains.npz", folder / "domain_of.npz"
    np.savez(features, xtr=x[train], ytr=y[train], xte=x[test], yte=y[test], backbone=BACKBONE)
    np.savez(told, train=domain_of[train], test=domain_of[test])
    print(f"{len(domains)} domains: {', '.join(domains)}; {len(set(y))} classes; {len(train)} + {len(test)} pictures")
    return str(features), str(told)


def runs(features: str, domains: str, seeds: list[int]) -> list[Specification]:
    """Return every closed-form row of Table 1, as on features of CIFAR-100, and again on all at once."""
    rows = plan("table1", substitute=True, datasets=["cifar100"], seeds=(0,)).specifications
    scenario = ScenarioSettings(kind="domain-incremental", domains=domains, order="paper")
    plain = [
        replace(
            row, dataset=features, scenario=scenario, seed=seed, order_seed=seed, paper=None, substitute=None,
            embedding=False, keep_model=False,
        )
        for row in rows for seed in seeds
    ]  # fmt: skip
    at_once = [replace(run, joint=True, title=f"{run.title}, all at once") for run in plain if not run.joint]
    return [*plain, *at_once]


def table(results: list[RunResult]) -> str:
    """Return the table, one row a method."""
    found: dict[str, list[RunResult]] = {}
    for result in results:
        found.setdefault(result.title, []).append(result)
    lines = [
        "| method | after the last domain | A\\_avg | forgetting | all at once |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for title, own in found.items():
        if title.endswith(", all at once"):
            continue
        joint = own if own[0].joint else found[f"{title}, all at once"]
        course = ["–"] * 3 if own[0].joint else [shown(own, name) for name in ("A_last", "A_avg", "forgetting")]
        lines.append(f"| {title.replace('_', chr(92) + '_')} | {' | '.join(course)} | {shown(joint, 'A_last')} |")
    return "\n".join(lines)


def shown(own: list[RunResult], name: str) -> str:
    values = [float(run.metrics[name] or 0) for run in own]
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--output", type=Path, default=Path("anacp-domains"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args()
    features, domains = write_features(given.source, given.output / "features")
    for status in sweep(runs(features, domains, given.seeds), given.output / "runs", jobs=1):
        if isinstance(status.event, Failed):
            print(f"{status.event.specification.title}: {status.event.error}")
    print(table(load_runs(given.output / "runs")))


if __name__ == "__main__":
    main()
