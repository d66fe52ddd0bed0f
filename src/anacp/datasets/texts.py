"""Any table of texts, or of paths of images, and labels."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from anacp.datasets.columns import Columns
from anacp.datasets.dataset import Dataset, Examples, LeftOut
from anacp.datasets.rows import Row, RowTable, read_table
from anacp.datasets.splits import divide
from anacp.errors import DataFileError
from anacp.items import EncodedImage, ImageFile, OnError
from anacp.labels import label_array
from anacp.words import LONGEST_PLACE, SKIPPING, counted, listed


def read_texts(path: str | Path, *, test_share: float = 0.2, seed: int = 0) -> Dataset:
    """Return the rows of a table with `text`, `label` and optionally `split`, see `read_labelled`.

    Labels of a CSV file are texts; in JSON Lines whole numbers stay numbers. Without `split`, that share of each class
    is for testing, drawn with (seed, class).
    """
    path = Path(path).expanduser()
    found = labelled_rows(read_table(path), Columns(), modality="text")
    examples = Examples(found.items, label_array(found.labels))
    return divide(path, examples, found.splits, modality="text", test_share=test_share, seed=seed)


@dataclass
class LabelledRows:
    """What the rows of a table hold."""

    modality: Literal["image", "text"]
    items: list[Any] = field(default_factory=list)
    labels: list[Any] = field(default_factory=list)
    splits: list[str] | None = None
    left_out: list[LeftOut] = field(default_factory=list)


def labelled_rows(
    table: RowTable,
    columns: Columns,
    *,
    label: str | None = None,
    on_error: OnError = "refuse",
    modality: str | None = None,
) -> LabelledRows:
    """Return all rows that are whole; with "refuse", any other is refused by its number."""
    if not table.rows:
        raise DataFileError(f"Expected rows of text and label in {table.place}, got none.")
    role, source = columns.source(table.columns, table.place, modality)
    named = columns.find("label", table.columns, table.place)
    if label is None and named is None:
        raise columns.missing("label", table.columns, table.place)
    if label is not None and named is not None:
        raise DataFileError(
            f"Expected labels from --label or from a column, got {label!r} and the column {named!r} of {table.place}. "
            "Leave --label out, or the column."
        )
    split = columns.find("split", table.columns, table.place)
    found = LabelledRows("text" if role == "text" else "image", splits=None if split is None else [])
    for row in table.rows:
        stated = label if named is None else _label(row.values.get(named))
        item, problem = source_item(table, row, role, source)
        problem = row.problem or ("no label" if stated is None else problem)
        if problem:
            found.left_out.append(LeftOut(f"{table.unit} {row.number} of {table.place}", problem))
            continue
        found.items.append(item)
        found.labels.append(stated)
        if found.splits is not None and split is not None:
            found.splits.append(str(row.values.get(split)))
    if found.left_out and on_error == "refuse":
        rows = listed(
            found.left_out,
            show=lambda one: f"{one.place.partition(' of ')[0]} ({one.reason})",
            longest=LONGEST_PLACE,
        )
        raise DataFileError(
            f"Expected a {role} and a label in every row of {table.place}, got {counted(len(found.left_out), 'row')} "
            f"that cannot be used: {rows}. Correct them, or leave them out: {SKIPPING}."
        )
    if not found.items:
        raise DataFileError(f"Expected rows that can be used in {table.place}, got none of {len(table.rows)}.")
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in found.labels):
        found.labels = [str(one) for one in found.labels]
    return found


def source_item(table: RowTable, row: Row, role: str, column: str) -> tuple[Any, str]:
    """Return what a row is about, a text or an image file, and what is wrong with it."""
    value = row.values.get(column)
    if is_blank(value):
        return None, f"blank {role}"
    if isinstance(value, EncodedImage):  # a picture that is in the table itself
        return value, "" if role == "path" else "a picture where a text is expected"
    if role == "text":
        return str(value), ""
    path = Path(str(value).strip()).expanduser()
    beside = Path(table.place).parent / path  # where tables mostly lie; one from standard input lies nowhere
    place = beside if beside.exists() else path
    return ImageFile(place, str(value)), "" if place.exists() else f"no file {value}"


def is_blank(value: Any) -> bool:
    """Say whether a cell is empty; not a number is what an empty cell becomes in some programs."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _label(value: Any) -> Any:
    """Return a label without blanks around it; None if there is none."""
    if is_blank(value):
        return None
    return value.strip() if isinstance(value, str) else value
