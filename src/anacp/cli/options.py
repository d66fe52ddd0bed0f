"""Options that the everyday commands share."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from anacp.encoders import LayersChoice


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
Examples = Annotated[
    list[str],
    typer.Argument(
        help="Folders (or zip, tar) of class folders of images, the folder of one class, or tables of texts or paths "
        "and labels (.csv, .tsv, .json, .jsonl, .xlsx, .parquet), - for one from standard input; with --label also "
        "image files, texts, or - for lines.",
        show_default=False,
    ),
]
Label = Annotated[str | None, typer.Option("--label", help="The class of all that is given.", show_default=False)]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse what would be left out: files that are no pictures, empty classes, …")
]
OnBad = Annotated[
    OnErrorOption,
    typer.Option(help="An image that cannot be read, or a row without text or label."),
]
TextColumn = Annotated[
    str | None, typer.Option(help="The column of texts, where it has an unusual name.", show_default=False)
]
LabelColumn = Annotated[str | None, typer.Option(help="The column of labels, likewise.", show_default=False)]
PathColumn = Annotated[str | None, typer.Option(help="The column of paths of images, likewise.", show_default=False)]
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
LayersOption = Annotated[
    str | None,
    typer.Option(
        "--layers",
        help="Layers of the backbone that give features: last (if left out), auto (chosen by these examples, for "
        "good), or some, such as -2,-1.",
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
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="auto|local|ADDRESS",
        help="Work on the nodes of a Ray cluster: the one of this machine, one started for this command, or another.",
        show_default=False,
    ),
]
Device = Annotated[
    str, typer.Option(help="Where the backbone runs on each node: cpu, or cuda, with a worker for each GPU.")
]


def layers_of(layers: str | None) -> "LayersChoice | None":
    """Return what is said of layers: a word, or numbers and names with commas between."""
    if layers is None or layers == "auto" or layers == "last":
        return layers
    named = [layer.strip() for layer in layers.split(",")]
    return [int(layer) if layer.removeprefix("-").isdecimal() else layer for layer in named]
