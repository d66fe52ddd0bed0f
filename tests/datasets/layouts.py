"""Small data sets of random pixels, written in the layouts in which the real ones are published."""

import io
import json
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from PIL import Image
from scipy.io import savemat

Files = dict[str, bytes]


def picture(seed: int, *, form: str = "JPEG", side: int = 8) -> bytes:
    pixels = np.random.default_rng(seed).integers(256, size=(side, side, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form)
    return buffer.getvalue()


def write(files: Files, path: Path) -> Path:
    """Write as a folder, or as the archive that the name of the path says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    elif path.name.endswith((".tar", ".tgz", ".tar.gz")):
        with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    else:
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
    return path


class _PythonTwoPickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes byte strings as Python 2 did: that is how CIFAR was published."""

    dispatch = {**pickle._Pickler.dispatch}  # type: ignore[attr-defined]  # noqa: RUF012

    def save_bytes(self, content: bytes) -> None:
        self.write(pickle.BINSTRING + struct.pack("<i", len(content)) + content)

    dispatch[bytes] = save_bytes


def pickled(content: object) -> bytes:
    buffer = io.BytesIO()
    _PythonTwoPickler(buffer, protocol=2).dump(content)
    return buffer.getvalue().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


CIFAR_NAMES = ["apple", "aquarium_fish", "worm"]


def cifar_rows(split: str) -> tuple[np.ndarray, list[int]]:
    n_rows = {"train": 9, "test": 6}[split]
    generator = np.random.default_rng(n_rows)
    return generator.integers(256, size=(n_rows, 3072), dtype=np.uint8), [row % 3 for row in range(n_rows)]


def cifar_python(top: str = "cifar-100-python/") -> Files:
    files = {f"{top}meta": pickled({b"fine_label_names": [name.encode() for name in CIFAR_NAMES]})}
    for split in ("train", "test"):
        data, codes = cifar_rows(split)
        names = [f"{CIFAR_NAMES[code]}_s_{row:06}.png".encode() for row, code in enumerate(codes)]
        files[f"{top}{split}"] = pickled({b"data": data, b"fine_labels": codes, b"filenames": names})
    return files


def cifar_binary(top: str = "cifar-100-binary/") -> Files:
    files = {f"{top}fine_label_names.txt": "\n".join([*CIFAR_NAMES, ""]).encode()}
    for split in ("train", "test"):
        data, codes = cifar_rows(split)
        fine = np.array(codes, np.uint8)[:, None]
        files[f"{top}{split}.bin"] = np.hstack([np.zeros_like(fine), fine, data]).tobytes()
    return files


def imagenet_r(top: str = "imagenet-r/") -> Files:
    files = {f"{top}README.txt": b"renditions"}
    for number, wnid in enumerate(("n01443537", "n01484850")):
        for row in range(10):
            files[f"{top}{wnid}/art_{row}.jpg"] = picture(100 * number + row)
    return files


def cub(top: str = "CUB_200_2011/") -> Files:
    classes = ["001.Black_footed_Albatross", "002.Laysan_Albatross"]
    images = [f"{classes[row // 4]}/bird_{row}.jpg" for row in range(8)]
    listing = {
        "classes.txt": [f"{i} {name}" for i, name in enumerate(classes, 1)],
        "images.txt": [f"{i} {name}" for i, name in enumerate(images, 1)],
        "image_class_labels.txt": [f"{i} {1 + (i - 1) // 4}" for i in range(1, 9)],
        "train_test_split.txt": [f"{i} {i % 2}" for i in range(1, 9)],
    }
    files = {f"{top}{name}": "\n".join([*lines, ""]).encode() for name, lines in listing.items()}
    if top:
        files["attributes.txt"] = b"1 has_bill_shape::curved_(up_or_down)\n"
    return files | {f"{top}images/{name}": picture(row) for row, name in enumerate(images)}


def tiny_imagenet(top: str = "tiny-imagenet-200/") -> Files:
    wnids = ["n02124075", "n01443537"]
    files = {f"{top}wnids.txt": "\n".join(wnids).encode(), f"{top}test/images/test_0.JPEG": picture(1)}
    for number, wnid in enumerate(wnids):
        files[f"{top}train/{wnid}/{wnid}_boxes.txt"] = b"none"
        for row in range(3):
            files[f"{top}train/{wnid}/images/{wnid}_{row}.JPEG"] = picture(10 * number + row)
    annotations = [f"val_{row}.JPEG\t{wnids[row % 2]}\t0\t32\t44\t62" for row in range(4)]
    files[f"{top}val/val_annotations.txt"] = "\n".join([*annotations, ""]).encode()
    return files | {f"{top}val/images/val_{row}.JPEG": picture(50 + row) for row in range(4)}


def _matlab(**variables: object) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, variables)
    return buffer.getvalue()


def _annotations(codes: Sequence[int]) -> bytes:
    kind = [("bbox_x1", "O"), ("class", "O"), ("fname", "O")]
    rows = [(1.0, float(code), f"{row:05}.jpg") for row, code in enumerate(codes, 1)]
    return _matlab(annotations=np.array([rows], dtype=kind))


CAR_CODES = {"train": [1, 190, 191, 196, 1, 190], "test": [196, 1, 191, 190]}


def cars() -> dict[str, Files]:
    """The four published things: two archives of images, the development kit, and the labels of the test images."""
    classes = np.array([[f"Car {number} Sedan 2012" for number in range(1, 197)]], object)
    kit = {
        "devkit/cars_meta.mat": _matlab(class_names=classes),
        "devkit/cars_train_annos.mat": _annotations(CAR_CODES["train"]),
    }
    made = {"car_devkit": kit, "": {"cars_test_annos_withlabels.mat": _annotations(CAR_CODES["test"])}}
    for split, codes in CAR_CODES.items():
        names = [f"cars_{split}/{row:05}.jpg" for row in range(1, len(codes) + 1)]
        made[f"cars_{split}"] = {name: picture(len(codes) * 100 + row) for row, name in enumerate(names)}
    return made


def clinc() -> dict[str, list[list[str]]]:
    intents = ("balance", "weather")
    pairs = {
        split: [[f"{split} query {row} about {intent}", intent] for intent in intents for row in range(n)]
        for split, n in (("train", 5), ("val", 1), ("test", 2))
    }
    return {**pairs, "oos_test": [["what is love", "oos"]], "oos_val": [], "oos_train": [["who am i", "oos"]]}


def class_label(names: Sequence[str]) -> dict[str, object]:
    return {"names": list(names), "_type": "ClassLabel"}


def table(columns: Mapping[str, object], features: Mapping[str, object] | None = None) -> pyarrow.Table:
    stated = {b"huggingface": json.dumps({"info": {"features": features}}).encode()} if features else None
    return pyarrow.table(columns).replace_schema_metadata(stated)


def image_column(contents: Sequence[bytes], paths: Sequence[str | None]) -> pyarrow.Array:
    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    return pyarrow.array([{"bytes": c, "path": p} for c, p in zip(contents, paths, strict=True)], kind)


def save_to_disk(splits: Mapping[str, pyarrow.Table], folder: Path) -> Path:
    """Write what DatasetDict.save_to_disk of the datasets library writes, two shards a split."""
    folder.mkdir(parents=True)
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": list(splits)}))
    for split, whole in splits.items():
        (folder / split).mkdir()
        half = len(whole) // 2
        shards = [f"data-{i:05}-of-00002.arrow" for i in range(2)]
        for name, part in zip(shards, (whole[:half], whole[half:]), strict=True):
            with pyarrow.ipc.new_stream(folder / split / name, whole.schema) as stream:
                stream.write_table(part, max_chunksize=2)
        state = {"_data_files": [{"filename": name} for name in shards], "_split": split}
        (folder / split / "state.json").write_text(json.dumps(state))
        (folder / split / "dataset_info.json").write_text(json.dumps({"features": {}}))
    return folder


def save_parquet(splits: Mapping[str, pyarrow.Table], folder: Path) -> Path:
    """Write what a download from the hub looks like: data/SPLIT-00000-of-00002.parquet, in small row groups."""
    (folder / "data").mkdir(parents=True)
    for split, whole in splits.items():
        half = len(whole) // 2
        for i, part in enumerate((whole[:half], whole[half:])):
            pyarrow.parquet.write_table(part, folder / "data" / f"{split}-{i:05}-of-00002.parquet", row_group_size=2)
    return folder


def truncated(path: Path, share: float = 0.6) -> Path:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    return path
