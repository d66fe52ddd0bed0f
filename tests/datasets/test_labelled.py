"""All labelled examples of a user's own data; where there are splits, one must be chosen."""

import numpy as np
import pytest

from anacp.datasets import read_labelled, read_unlabelled
from anacp.errors import InputError, MissingDataError
from tests.datasets import layouts


def test_every_image_of_a_folder(tmp_path) -> None:
    # A class may be called train.
    layouts.write(dict.fromkeys(("bus/1.png", "bus/2.png", "train/far/3.png"), layouts.picture(0)), tmp_path)
    examples = read_labelled(tmp_path)
    assert examples.labels.tolist() == ["bus", "bus", "train"]
    asked = read_unlabelled([str(tmp_path)], "image")
    assert [item.path.name for item in asked.items] == ["1.png", "2.png", "3.png"]
    with pytest.raises(InputError, match="Leave the split out"):
        read_labelled(tmp_path, split="train")
    with pytest.raises(MissingDataError):
        read_labelled(tmp_path / "nowhere")


def test_split_folders_must_be_chosen(tmp_path) -> None:
    layouts.write(dict.fromkeys(("train/a/1.png", "train/b/2.png", "test/a/3.png"), layouts.picture(0)), tmp_path)
    with pytest.raises(InputError, match=r"\('test', 'train'\) or 'all', got none chosen"):
        read_labelled(tmp_path)
    assert read_labelled(tmp_path, split="train").labels.tolist() == ["a", "b"]
    assert read_labelled(tmp_path, split="test").labels.tolist() == ["a"]
    assert read_labelled(tmp_path, split="all").labels.tolist() == ["a", "a", "b"]


def test_rows_of_texts(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("text,label,split\nhello,x,train\nbye,y,test\n")
    with pytest.raises(InputError, match=r"got 'validation'\. Say which"):
        read_labelled(tmp_path / "a.csv", split="validation")
    assert read_labelled(tmp_path / "a.csv", split="test").items == ["bye"]
    assert read_labelled(tmp_path / "a.csv", split="all").items == ["hello", "bye"]
    (tmp_path / "b.jsonl").write_text('{"text": "hello", "label": 3}\n{"text": "bye", "label": 4}\n')
    assert np.issubdtype(read_labelled(tmp_path / "b.jsonl").labels.dtype, np.integer)
    assert len(read_labelled(tmp_path / "b.jsonl")) == 2
