"""Class folders of images as labelled examples, on disk or packed; what else is there is named."""

from collections.abc import Collection, Sequence
from pathlib import Path

from anacp.datasets.archives import ARCHIVE_SUFFIXES
from anacp.datasets.dataset import Labelled, LeftOut
from anacp.datasets.folder import VALIDATION, image_tree
from anacp.datasets.trees import Tree
from anacp.errors import DataFileError, InputError
from anacp.labels import label_array
from anacp.words import counted

EVERYTHING = "all"
WITH_LABEL = "with --label NAME everything given is of one class"


def labelled_tree(path: Path, label: str | None, split: str | None) -> Labelled:
    """Return the pictures of a folder or archive: of class folders, of one class, or all of a class that is stated."""
    tree, names, left_out = image_tree(path)
    if label is not None:
        return _pictures(tree, names, [label] * len(names), left_out)
    notes = []
    around = _folder_around(path, names)
    if around:  # what packing a folder makes
        tree, names = tree.inside(f"{around}/"), [name.removeprefix(f"{around}/") for name in names]
        notes.append(f"the folders inside {around} of {path} are its classes")
    tops = {name.split("/")[0] for name in names if "/" in name}
    is_split = "train" in tops and len(tops) > 1 and tops <= {"train", "test", *VALIDATION}
    chosen = chosen_split(path, split, tops if is_split else set())
    if is_split and chosen:
        names = [name for name in names if name.startswith(f"{chosen}/")]
        left_out = [one for one in left_out if _relative(path, one.place, around).startswith(f"{chosen}/")]
    depth = 1 if is_split else 0
    inside = [name for name in names if name.count("/") > depth]
    if not inside and not is_split and names:  # the folder of one class
        label = path.resolve().name
        for suffix in ARCHIVE_SUFFIXES if path.is_file() else ():
            label = label.removesuffix(suffix)
        return _pictures(tree, names, [label] * len(names), [*left_out, *_empty(tree, [], 0, "")], notes)
    loose = [
        LeftOut(tree.file(name).place(), f"beside the class folders, so that its class is not known; {WITH_LABEL}")
        for name in names
        if name.count("/") <= depth
    ]
    labels = [name.split("/")[depth] for name in inside]
    if len(set(labels)) == 1 and inside and all(name.count("/") > depth + 1 for name in inside):
        below = {name.split("/")[depth + 1] for name in inside}
        notes.append(
            f"all of {path} is of one class, {labels[0]}: the {counted(len(below), 'folder')} inside do not count. If "
            f"they are the classes, give the folder {labels[0]} itself"
        )
    return _pictures(tree, inside, labels, [*left_out, *loose, *_empty(tree, inside, depth, chosen)], notes)


def chosen_split(place: object, split: str | None, found: Collection[str]) -> str:
    """Return which split is meant, empty for everything."""
    if split == EVERYTHING or (split is None and not found):
        return ""
    if split is not None and split in found:
        return split
    if not found:
        raise InputError(f"Expected splits in {place}, got none but {split!r} asked for. Leave the split out.")
    listed_splits = ", ".join(map(repr, sorted(found)))
    got = "none chosen" if split is None else repr(split)
    raise InputError(
        f"Expected one of the splits in {place} ({listed_splits}) or 'all', got {got}. Say which (--split)."
    )


def _pictures(
    tree: Tree, names: Sequence[str], labels: Sequence[str], left_out: Sequence[LeftOut], notes: Sequence[str] = ()
) -> Labelled:
    if not names:
        beside = f" beside {counted(len(left_out), 'other file')}" if left_out else ""
        raise DataFileError(
            f"Expected class folders with images in {tree.path}, got none{beside}. Put the images of each class into a "
            "folder of its name."
        )
    files = [tree.file(name) for name in names]
    return Labelled(files, label_array(list(labels)), "image", tuple(left_out), tuple(notes))


def _folder_around(path: Path, names: Sequence[str]) -> str:
    """Return the folder that an archive was made of and everything lies in; empty if there is none."""
    tops = {name.split("/")[0] for name in names}
    stem = next((path.name[: -len(one)] for one in ARCHIVE_SUFFIXES if path.name.lower().endswith(one)), "")
    is_around = path.is_file() and tops == {stem} and all(name.count("/") > 1 for name in names)
    return stem if is_around else ""


def _empty(tree: Tree, names: Sequence[str], depth: int, top: str) -> list[LeftOut]:
    """Return the class folders that hold no picture."""
    packed = tree.path.is_file()
    full = {"/".join(name.split("/")[: depth + 1]) for name in names}
    return [
        LeftOut(f"{folder} in {tree.path}" if packed else str(tree.path / folder), "a folder without a picture")
        for folder in tree.folders
        if folder.count("/") == depth and folder not in full and (not top or folder.startswith(f"{top}/"))
    ]


def _relative(path: Path, place: str, around: str) -> str:
    return place.removeprefix(f"{path}/").removeprefix(f"{around}/")
