"""The README's picture, from run folders: accuracy over tasks, from 0 to 100, of the three rows that tell the story.

    anacp reproduce table1 --substitute --frozen --dataset clinc150 --seeds 0 \\
        --methods "Sequential fine-tuning,GACL,AnaCP" --output anacp-picture
    python tools/readme_picture.py anacp-picture
"""

import sys
from pathlib import Path

import numpy as np

from anacp.experiments import load_runs
from anacp.reports.figures.accuracies import accuracy_curves

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "accuracy_curve.png"
SHOWN = {"AnaCP": "AnaCP", "GACL": "GACL, the next best", "Sequential fine-tuning": "a network trained on"}


def main(folder: str) -> None:
    runs = {title: [run for run in load_runs(folder) if run.title == title] for title in SHOWN}
    if absent := [title for title, found in runs.items() if not found]:
        sys.exit(f"Expected runs of {', '.join(SHOWN)} in {folder}, got none of {', '.join(absent)}.")
    curves = {
        SHOWN[title]: np.mean([[step.accuracy for step in run.steps] for run in found], axis=0).tolist()
        for title, found in runs.items()
    }
    n_classes = [step.n_classes for step in runs["AnaCP"][0].steps]
    figure = accuracy_curves(curves, n_classes, title="150 kinds of sentences, 15 new ones at a time", limits=(0, 100))
    figure.savefig(PICTURE, dpi=150, bbox_inches="tight", metadata={"Software": None})
    seeds = sorted({run.seed for found in runs.values() for run in found})
    print(f"{PICTURE}: {', '.join(f'{name} {curve[-1]:.1f}' for name, curve in curves.items())}; seeds {seeds}")


if __name__ == "__main__":
    main(sys.argv[1])
