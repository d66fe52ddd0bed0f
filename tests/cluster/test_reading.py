"""Sources in parts, from wherever fsspec opens them."""

import csv
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from anacp.cluster.reading import Reading, described, labels_together, places, rows_of
from anacp.datasets import read_labelled
from anacp.errors import AnacpError, DataFileError, InputError, MismatchError, MissingDataError
from tests.cluster.pictures import picture

fsspec = pytest.importorskip("fsspec", reason="needs the package fsspec: pip install 'anacp[ray]'")


def table(path: Path, texts: list[str], label: str = "a") -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *((text, label) for text in texts)])
    return path


def tar_of(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_a_folder_of_tables_is_all_of_them(tmp_path: Path) -> None:
    for name in "ba":
        table(tmp_path / f"{name}.csv", [f"{name} text"])
    assert [Path(one).name for one in places([str(tmp_path)])] == ["a.csv", "b.csv"]
    (tmp_path / "cat").mkdir()
    assert places([str(tmp_path)]) == [str(tmp_path)]


def test_nothing_there_and_the_same_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="got none"):
        places([str(tmp_path / "none.csv")])
    one = str(table(tmp_path / "a.csv", ["text"]))
    with pytest.raises(InputError, match="each source once"):
        places([one, one])
    with pytest.raises(MissingDataError, match="address that fsspec opens"):
        places(["no-such-thing://bucket/x.csv"])


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_remote_files_are_read_as_local_ones(scheme: str, tmp_path: Path) -> None:
    local = table(tmp_path / "a.csv", ["one", "two", "three"])
    address = f"file://{local}" if scheme == "file" else "memory://bucket/a.csv"
    if scheme == "memory":
        fsspec.filesystem("memory").pipe("/bucket/a.csv", local.read_bytes())
    (found,) = places([address])
    part = described(Reading(), found)
    expected = described(Reading(), str(local))
    assert (part.mark, part.modality, part.labels.tolist()) == (expected.mark, "text", ["a"] * 3)
    assert list(rows_of(Reading(), found, part.mark).items) == ["one", "two", "three"]


def test_remote_tables_are_found_by_a_pattern_and_images_by_their_folders() -> None:
    files = fsspec.filesystem("memory")
    for number in range(3):
        files.pipe(f"/many/part-{number}.csv", b"text,label\nx,y\n")
    assert places(["memory://many/*.csv"]) == [f"memory:///many/part-{number}.csv" for number in range(3)]
    assert places(["memory://many"]) == [f"memory:///many/part-{number}.csv" for number in range(3)]
    for name in ("cat/1.png", "dog/2.png", "cat/3.png"):
        files.pipe(f"/photos/{name}", picture(len(name)))
    files.pipe("/photos/readme.png", picture(1))
    part = rows_of(Reading(), "memory://photos", described(Reading(), "memory://photos").mark)
    assert part.labels.tolist() == ["cat", "cat", "dog"]
    assert part.items[0].read() == picture(9)
    assert [one.reason for one in part.left_out] == ["beside the class folders"]


def test_a_part_that_is_another_one_now_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ["one", "two"])
    mark = described(Reading(), str(path)).mark
    table(path, ["one", "three"])
    with pytest.raises(MismatchError, match="as it was at the start"):
        rows_of(Reading(), str(path), mark)


def test_numbers_beside_texts_become_texts(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x", "label": 3}\n')
    parts = [
        described(Reading(), str(tmp_path / "a.jsonl")),
        described(Reading(), str(table(tmp_path / "b.csv", ["y"]))),
    ]
    labels, as_texts = labels_together(parts)
    assert (labels.tolist(), as_texts) == (["3", "a"], True)
    assert labels_together(parts[:1])[0].tolist() == [3]


def test_webdataset_archives_are_read_by_the_plain_command_too(tmp_path: Path) -> None:
    files = {
        f"{number:03}.{ending}": content
        for number in range(4)
        for ending, content in (("png", picture(number)), ("cls", f"class {number % 2}\n".encode()))
    }
    path = tar_of(tmp_path / "shard-0.tar", files)
    found = read_labelled(path)
    assert found.labels.tolist() == ["class 0", "class 1"] * 2
    assert found.modality == "image"
    assert [item.read() for item in found.items] == [picture(number) for number in range(4)]
    texts = read_labelled(
        tar_of(tmp_path / "t.tar", {"a.txt": "grüße".encode(), "a.cls": b"7", "b.txt": b"x", "b.cls": b"8"})
    )
    assert (list(texts.items), texts.labels.tolist(), texts.modality) == (["grüße", "x"], ["7", "8"], "text")
    path = tar_of(tmp_path / "bad.tar", files | {"100.png": picture(1)})
    with pytest.raises(DataFileError, match="1 example without"):
        read_labelled(path)
    assert len(read_labelled(path, on_error="skip")) == 4
    with pytest.raises(AnacpError, match="left out"):
        read_labelled(path, on_error="skip", strict=True)


def test_features_are_rows(tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.savez(tmp_path / "f.npz", xtr=x, ytr=np.arange(4), xte=x[:1], yte=[0])
    part = described(Reading(), str(tmp_path / "f.npz"))
    assert (part.modality, part.labels.tolist()) == ("features", [0, 1, 2, 3])
    assert described(Reading(split="test"), str(tmp_path / "f.npz")).labels.tolist() == [0]
    assert described(Reading(), "sample:clinc150").modality == "features"
