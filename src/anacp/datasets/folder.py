"""Any folder of class folders of images, unpacked or in an archive."""

from collections.abc import Sequence
from pathlib import Path

from anacp.datasets.archives import is_archive
from anacp.datasets.dataset import Card, Dataset, Examples, LeftOut, nothing
from anacp.datasets.splits import split_per_class
from anacp.datasets.trees import Tree, is_picture, open_tree
from anacp.errors import DataFileError, MissingDataError
from anacp.labels import label_array

# A file that is named so is meant to be a picture: if it is none, that is said, and it is not passed over.
IMAGE_SUFFIXES = (
    *(".avif", ".bmp", ".gif", ".heic", ".heif", ".jfif", ".jpeg", ".jpg"),
    *(".png", ".ppm", ".tif", ".tiff", ".webp"),
)
VALIDATION = ("validation", "val", "valid")


def read_folder(path: str | Path, *, test_share: float = 0.2, seed: int = 0) -> Dataset:
    """Return the images below PATH/CLASS, or below PATH/train/CLASS and PATH/test/CLASS where these folders exist.

    Without train/ and test/, that share of each class is for testing, drawn with (seed, class): adding or removing a
    class moves no other. Without test/ but with val/, the images there are the test set.
    """
    path = Path(path).expanduser()
    tree, names, _ = image_tree(path)
    tops = {name.split("/")[0] for name in names}
    held = [top for top in VALIDATION if top in tops]
    if "train" in tops and ("test" in tops or held):
        train = class_folders(tree, names, "train")
        test = class_folders(tree, names, "test" if "test" in tops else held[0])
        validation = class_folders(tree, names, held[0]) if held and "test" in tops else nothing()
        split = "as found: " + ", ".join(sorted(tops & {"train", "test", *VALIDATION}))
        return Dataset(path.name, "image", train, test, _card(path, split), validation)
    everything = class_folders(tree, names)
    rows, test_rows = split_per_class(everything.labels, test_share=test_share, role="folder/split", seed=seed)
    split = f"{test_share:g} of each class for testing, seed {seed}, role folder/split/CLASS"
    return Dataset(path.name, "image", everything.take(rows), everything.take(test_rows), _card(path, split))


def image_tree(path: Path) -> tuple[Tree, list[str], list[LeftOut]]:
    """Return the files of a folder or archive, the names of the images among them, and what else is there."""
    if not path.is_dir() and not (path.is_file() and is_archive(path)):
        raise MissingDataError(f"Expected a folder of class folders, or an archive of one, at {path}, got none.")
    tree = open_tree(path)
    names = [name for name in tree.names if name.lower().endswith(IMAGE_SUFFIXES) or is_picture(tree.file(name))]
    others = [LeftOut(tree.file(name).place(), "not a picture") for name in sorted(tree.files.keys() - set(names))]
    return tree, names, [*tree.left_out, *others]


def class_folders(tree: Tree, names: Sequence[str], top: str = "") -> Examples:
    """Return the images below CLASS, or below TOP/CLASS."""
    depth = 1 if top else 0
    inside = [name for name in names if name.count("/") > depth and (not top or name.startswith(f"{top}/"))]
    if not inside:
        raise DataFileError(
            f"Expected class folders with images in {tree.path}{'/' * bool(top)}{top}, got none. Put the images of "
            "each class into a folder of its name."
        )
    labels = label_array([name.split("/")[depth] for name in inside])
    return Examples([tree.file(name) for name in inside], labels)


def _card(path: Path, split: str) -> Card:
    return Card(name=path.name, title=f"Images in {path.name}", modality="image", split=split)
