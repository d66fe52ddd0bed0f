"""Options that the everyday commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class OnErrorOption(StrEnum):
    """What to do with what cannot be used."""

    refuse = "refuse"
    skip = "skip"


class MeasureOption(StrEnum):
    """What tells the unknown from what was learned."""

    both = "both"
    score = "score"
    distance = "distance"


ModelPath = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
ExamplesPath = Annotated[
    Path,
    typer.Argument(
        help="A folder (or zip, tar) of class folders of images, or a .csv or .jsonl file of text and label.",
        show_default=False,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(help="Where the examples are split into train and test: which to take, or 'all'.", show_default=False),
]
Solve = Annotated[
    bool, typer.Option(help="Solve before saving, so that predictions need not; or leave it to `anacp solve`.")
]
Backbone = Annotated[
    str | None,
    typer.Option(
        help="The one that the model was learned with; needed where it is neither a preset nor named here before.",
        show_default=False,
    ),
]
RemoteCode = Annotated[
    bool,
    typer.Option("--remote-code", help="Run Python files that come with the --backbone given: only if you trust it."),
]
Exact = Annotated[
    bool,
    typer.Option("--exact", help="Keep every bit in the file, instead of 8 bits for each entry of large matrices."),
]
Keep = Annotated[
    float | None,
    typer.Option(help="The share of examples of known classes to be recognised as such (0.95).", show_default=False),
]
MeasuredBy = Annotated[
    MeasureOption,
    typer.Option("--by", help="What tells the unknown: the largest score, the distance to the classes, or both."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]
