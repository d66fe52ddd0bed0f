"""What a person may give to `learn`, `forget` and `predict`: whatever it is, nothing vanishes and no row is lost."""

import csv
import io
import json
import shutil
import zipfile
from pathlib import Path

import openpyxl
import pillow_heif
import pyarrow
import pyarrow.parquet
import pytest

import anacp as package
from anacp.errors import AnacpError
from anacp.methods import Classifier
from tests.backbones.models import needs_minilm
from tests.cli.conftest import anacp
from tests.datasets import layouts
from tests.methods.inputs import COLOURS, folder, picture


def facts(*arguments: object, text: str | None = None) -> dict:
    return json.loads(anacp(*arguments, "--json", text=text))


@pytest.fixture
def photos(models: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of the model of photos, to change."""
    return Path(shutil.copy(models["photos"], tmp_path / "photos.anacp"))


@pytest.fixture
def texts(models: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of the model of texts, to change."""
    return Path(shutil.copy(models["texts"], tmp_path / "texts.anacp"))


def _odd_album(path: Path) -> Path:
    """Photos as people have them: by any name, in formats of phones, linked, loose, beside an empty class."""
    album = folder(path / "album", ["green"], range(2))
    green = album / "green"
    pillow_heif.from_pillow(picture("green", 2).resize((64, 64))).save(green / "IMG_0001.HEIC")
    picture("green", 3).save(green / "IMG_0002.avif")
    picture("green", 4).save(green / "without_ending", "JPEG")
    picture("green", 5).save(green / "misnamed.txt", "PNG")
    (green / "notes.md").write_text("not a picture")
    picture("green", 6).save(green / ".hidden.png")
    (green / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0")
    (album / "empty").mkdir()
    picture("red", 7).save(album / "loose.png")
    folder(path / "elsewhere", ["yellow"], range(3))
    (album / "yellow").symlink_to(path / "elsewhere" / "yellow")
    (album / "green" / "round").symlink_to(album)
    (album / "gone.png").symlink_to(path / "nowhere")
    return album


def test_no_photo_vanishes(photos: Path, tmp_path: Path) -> None:
    album = _odd_album(tmp_path)
    (album / "gone.png").unlink()
    learned = facts("learn", album, "--model", photos)
    assert (learned["new_examples"], learned["new_classes"]) == (9, ["green", "yellow"])
    left_out = {Path(one["input"]).name: one["reason"] for one in learned["left_out"]}
    assert left_out.keys() == {".hidden.png", "notes.md", "round", "loose.png", "empty"}
    assert "beside the class folders" in left_out["loose.png"]
    assert left_out["empty"] == "a folder without a picture"
    printed = anacp("learn", album, "--model", photos)
    assert "0 new, 5 left out" in printed
    assert f"left out {album / 'green' / 'notes.md'}: not a picture" in printed
    before = photos.read_bytes()
    with pytest.raises(AnacpError, match=r"loose\.png"):
        anacp("learn", album, "--model", photos, "--strict")
    assert photos.read_bytes() == before


def test_a_link_never_takes_the_place_of_a_folder(photos: Path, tmp_path: Path) -> None:
    album = folder(tmp_path / "album", ["green"], range(2))
    (album / "a_link").symlink_to(album / "green")
    learned = facts("learn", album, "--model", photos)
    assert learned["new_classes"] == ["green"]
    assert [Path(one["input"]).name for one in learned["left_out"]] == ["a_link"]


def test_a_link_that_leads_nowhere_is_named(photos: Path, tmp_path: Path) -> None:
    album = folder(tmp_path / "album", ["green"], range(2))
    (album / "green" / "gone.png").symlink_to(tmp_path / "nowhere")
    with pytest.raises(AnacpError, match=r"gone\.png"):
        anacp("learn", album, "--model", photos)
    assert "2 new, 1 skipped" in anacp("learn", album, "--model", photos, "--on-error", "skip")


def test_a_packed_album_is_read_by_content(photos: Path, tmp_path: Path) -> None:
    album = _odd_album(tmp_path)
    with zipfile.ZipFile(tmp_path / "album.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in (album / "green").iterdir() if path.is_file()):
            archive.write(file, f"green/{file.name}")
    learned = facts("learn", tmp_path / "album.zip", "--model", photos)
    assert learned["new_examples"] == 6
    assert {Path(one["input"].split(" in ")[0]).name for one in learned["left_out"]} == {".hidden.png", "notes.md"}


@pytest.mark.parametrize("form", ["zip", "tar", "gztar"])
def test_empty_classes_of_a_packed_album_are_listed(form: str, photos: Path, tmp_path: Path) -> None:
    album = folder(tmp_path / "album", ["green", "yellow"], range(2))
    (album / "empty").mkdir()
    (album / "only_notes").mkdir()
    (album / "only_notes" / "notes.txt").write_text("x")
    for top, notes in (("album", ["the folders inside album of"]), (None, [])):
        name = "album" if top else "plain"
        packed = shutil.make_archive(str(tmp_path / name), form, tmp_path if top else album, top)
        model = shutil.copy(photos, tmp_path / f"{name}.anacp")
        learned = facts("learn", packed, "--model", model)
        assert learned["new_classes"] == ["green", "yellow"]
        assert [note[: len(said)] for note, said in zip(learned["notes"], notes, strict=True)] == notes
        empty = [one["input"] for one in learned["left_out"] if one["reason"] == "a folder without a picture"]
        assert empty == [f"empty in {packed}", f"only_notes in {packed}"]
        assert "2 left out" not in anacp("learn", packed, "--model", model)
        assert "3 left out" in anacp("learn", packed, "--model", model)


def test_one_class_with_folders_inside_is_told(photos: Path, tmp_path: Path) -> None:
    folder(tmp_path / "outer" / "green", ["green", "yellow"], range(2))
    learned = facts("learn", tmp_path / "outer", "--model", photos)
    assert learned["new_classes"] == ["green"]
    assert "all of" in learned["notes"][0]
    assert "the 2 folders inside do not count" in learned["notes"][0]
    within = folder(tmp_path / "more", ["red"], range(5, 6))
    (within / "red" / "sub").mkdir()
    picture("red", 9).save(within / "red" / "sub" / "9.png")
    assert facts("learn", within, "--model", photos)["notes"] == []


@pytest.mark.parametrize("form", ["struct", "bytes"])
def test_pictures_in_a_parquet_table(form: str, photos: Path, tmp_path: Path) -> None:
    shown = folder(tmp_path / "shown", ["green", "yellow"], range(2))
    files = sorted(shown.rglob("*.png"))
    contents = [file.read_bytes() for file in files]
    images = [{"bytes": content, "path": file.name} for content, file in zip(contents, files, strict=True)]
    columns = {"image": images if form == "struct" else contents, "label": [0, 0, 1, 1], "where": ["a", "b", "c", "d"]}
    made = layouts.table(columns, {"label": layouts.class_label(["green", "yellow"])})
    pyarrow.parquet.write_table(made, tmp_path / "t.parquet", row_group_size=3)
    learned = facts("learn", tmp_path / "t.parquet", "--model", photos)
    assert (learned["new_examples"], learned["new_classes"]) == (4, ["green", "yellow"])
    assert facts("learn", shown, "--model", photos)["known_examples"] == 4  # the same photos, by their content
    rows = list(csv.DictReader(io.StringIO(anacp("predict", photos, tmp_path / "t.parquet"))))
    assert [row["prediction"] for row in rows] == ["green", "green", "yellow", "yellow"]
    assert [row["where"] for row in rows] == ["a", "b", "c", "d"]
    assert all(len(row["image"]) < 20 for row in rows)  # a name, not the picture
    assert "4 examples forgotten" in anacp("forget", photos, tmp_path / "t.parquet")


def test_a_picture_that_is_missing_in_a_parquet_table(photos: Path, tmp_path: Path, error_of) -> None:
    picture("green", 0).save(tmp_path / "0.png")
    images = [{"bytes": (tmp_path / "0.png").read_bytes(), "path": None}, {"bytes": None, "path": None}]
    pyarrow.parquet.write_table(pyarrow.table({"image": images, "label": ["green"] * 2}), tmp_path / "t.parquet")
    assert "row 1 of block 0, column image" in error_of("learn", tmp_path / "t.parquet", "--model", photos)
    learned = facts("learn", tmp_path / "t.parquet", "--model", photos, "--on-error", "skip")
    assert (learned["new_examples"], len(learned["skipped"])) == (1, 1)


def test_a_class_folder_a_file_and_a_table_of_paths(photos: Path, tmp_path: Path) -> None:
    first = Classifier.load(photos)
    album = folder(tmp_path / "album", ["green", "yellow"], range(3))
    assert facts("learn", album / "green", "--model", photos)["new_classes"] == ["green"]
    one = album / "yellow" / "000.png"
    assert facts("learn", one, "--model", photos, "--label", "yellow")["new_examples"] == 1
    (album / "list.csv").write_text("File Name;Class\nyellow/001.png;yellow\nyellow/002.png;yellow\n")
    assert facts("learn", album / "list.csv", "--model", photos)["new_examples"] == 2
    assert "2 examples known already" in anacp("learn", "-", "--model", photos, text=_absolute(album / "list.csv"))
    assert "classes gone (1): green" in anacp("forget", photos, album / "green")
    assert "1 example forgotten" in anacp("forget", photos, one, "--label", "yellow")
    names = "".join(f"{album / 'yellow' / name}\n" for name in ("001.png", "002.png"))
    assert facts("forget", photos, "-", "--label", "yellow", text=names)["lost_classes"] == ["yellow"]
    shown = [picture(colour, 9) for colour in COLOURS]
    assert Classifier.load(photos).predict_proba(shown) == pytest.approx(first.predict_proba(shown), abs=1e-6)


def _absolute(table: Path) -> str:
    return table.read_text().replace("yellow/0", f"{table.parent}/yellow/0")


def test_texts_with_a_label_or_from_standard_input(texts: Path, tmp_path: Path) -> None:
    assert facts("learn", "green car", "a green tree", "--model", texts, "--label", "green")["new_examples"] == 2
    learned = facts("learn", "-", "--model", texts, "--label", "green", text="very green\n\nthe green house\n")
    assert (learned["new_examples"], len(learned["left_out"])) == (2, 1)
    (tmp_path / "lines.txt").write_text("green green\n")
    assert facts("learn", tmp_path / "lines.txt", "--model", texts, "--label", "green")["new_examples"] == 1
    rows = "Text,Intent\nthe tree,plant\na tree,plant\n"
    assert facts("learn", "-", "--model", texts, text=rows)["new_classes"] == ["plant"]
    assert facts("forget", texts, "-", text=rows)["lost_classes"] == ["plant"]
    assert facts("forget", texts, "very green", "--label", "green")["forgotten_examples"] == 1


ROWS = [("a red car", "red"), ("the blue car", "blue"), ("Größe", "red")]


def _tables(path: Path) -> dict[str, Path]:
    """The same rows, in the ways in which programs write them."""
    made = {}
    for name, delimiter, encoding in (
        ("semicolon.csv", ";", "utf-8"),
        ("tab.tsv", "\t", "utf-8"),
        ("tab.csv", "\t", "utf-16"),
        ("mark.csv", ",", "utf-8-sig"),
        ("latin.csv", ";", "latin-1"),
        ("unmarked.csv", ",", "utf-16-le"),
    ):
        made[name] = path / name
        content = "".join(f"{text}{delimiter}{label}\r\n" for text, label in [("Message", "CATEGORY"), *ROWS])
        made[name].write_bytes(content.encode(encoding))
    records = [{"utterance": text, "intent": label} for text, label in ROWS]
    made["records.json"] = path / "records.json"
    made["records.json"].write_text(json.dumps(records))
    made["columns.json"] = path / "columns.json"
    made["columns.json"].write_text(json.dumps({key: [one[key] for one in records] for key in records[0]}))
    made["lines.jsonl"] = path / "lines.jsonl"
    made["lines.jsonl"].write_text("".join(f"{json.dumps(one)}\n" for one in records))
    made["sheet.xlsx"] = path / "sheet.xlsx"
    book = openpyxl.Workbook()
    for row in [("Sentence", "Class"), *ROWS]:
        book.active.append(row)
    book.save(made["sheet.xlsx"])
    made["t.parquet"] = path / "t.parquet"
    pyarrow.parquet.write_table(
        pyarrow.table({key: [one[key] for one in records] for key in records[0]}), path / "t.parquet"
    )
    return made


NAMES = (
    *("semicolon.csv", "tab.tsv", "tab.csv", "mark.csv", "latin.csv", "unmarked.csv"),
    *("records.json", "columns.json", "lines.jsonl", "sheet.xlsx", "t.parquet"),
)


@pytest.mark.parametrize("name", NAMES)
def test_tables_of_every_kind(name: str, texts: Path, tmp_path: Path) -> None:
    table = _tables(tmp_path)[name]
    learned = facts("learn", table, "--model", texts)
    assert (learned["new_examples"], learned["known_examples"]) == (3, 0)
    assert len(learned["notes"]) == (name == "latin.csv")  # what had to be guessed is said
    model = Classifier.load(texts)
    assert model.is_known(*map(list, zip(*ROWS, strict=True))).all()
    printed = list(csv.DictReader(io.StringIO(_standard(anacp("predict", texts, table)))))
    assert [row["prediction"] in ("red", "blue") for row in printed] == [True] * 3
    assert next(iter(printed[2].values())) == "Größe"
    assert "3 examples forgotten" in anacp("forget", texts, table)


def _standard(printed: str) -> str:
    return printed.replace(";", ",").replace("\t", ",")


def test_columns_by_name(texts: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("foo,bar,text\nred red,green,x\n")
    named = ["--text-column", "FOO", "--label-column", "bar"]
    assert facts("learn", table, "--model", texts, *named)["new_classes"] == ["green"]
    assert facts("evaluate", texts, table, *named)["learned_examples"] == 1
    assert (
        anacp("predict", texts, table, "--text-column", "foo").splitlines()[0] == "foo,bar,text,prediction,probability"
    )


def test_bad_rows_may_be_skipped_and_are_listed(texts: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("text,label\ngreen,green\nred car,\n,green\nred, blue,green\n")
    learned = facts("learn", table, "--model", texts, "--on-error", "skip")
    assert (learned["new_examples"], learned["new_classes"]) == (1, ["green"])
    assert [one["input"].split(" of ")[0] for one in learned["left_out"]] == ["line 3", "line 4", "line 5"]
    assert "" not in Classifier.load(texts).classes_
    printed = anacp("evaluate", texts, table, "--on-error", "skip")
    assert f"left out line 3 of {table}: no label" in printed


def test_one_answer_a_row(texts: Path, photos: Path, tmp_path: Path) -> None:
    lines = anacp("predict", texts, "-", text="red house\n\n \nblue tree\n").splitlines()
    assert [line.split("\t")[0] for line in lines[:4]] == ["red house", "", " ", "blue tree"]
    assert [bool(line.split("\t")[1]) for line in lines[:4]] == [True, False, False, True]
    assert "2 of 4 are blank" in lines[4]
    rows = json.loads(anacp("predict", texts, "-", "--json", text="red house\n\nblue tree"))
    assert [row.get("error") for row in rows] == [None, "blank", None]
    assert json.loads(anacp("predict", texts, " ", "--json")) == [{"input": " ", "error": "blank"}]
    table = tmp_path / "t.csv"
    table.write_text('id,text\n1,"red, very red"\n2,\n3,blue tree\n')
    printed = anacp("predict", texts, table, "--top", 2).splitlines()
    assert printed[0] == "id,text,prediction,probability,prediction_2,probability_2"
    assert printed[1].startswith('1,"red, very red",red,')
    assert printed[2] == "2,,,,,"
    (tmp_path / "again.csv").write_text("\n".join(printed[:4]) + "\n")
    assert "new_prediction" in anacp("predict", texts, tmp_path / "again.csv").splitlines()[0]
    shown = folder(tmp_path / "shown", ["blue", "red"], range(8, 10))
    (shown / "blue" / "008.png").write_bytes(b"no picture")
    listed = "\n".join(map(str, [shown / "red" / "008.png", "", shown / "blue" / "008.png"]))
    rows = json.loads(anacp("predict", photos, "-", "--json", "--on-error", "skip", text=listed))
    assert [list(row)[1] for row in rows] == ["top", "error", "error"]


def test_texts_that_look_like_paths(texts: Path) -> None:
    odd = ["~100 red trees", "see red/tree.csv", "red " * 200 + ".csv"]
    assert facts("learn", *odd, "--label", "red", "--model", texts)["new_examples"] == 3
    assert [row["input"] for row in json.loads(anacp("predict", texts, *odd, "--json"))] == odd


def test_one_photo_in_two_classes(photos: Path, tmp_path: Path) -> None:
    album = folder(tmp_path / "album", ["green", "yellow"], range(2))
    shutil.copy(album / "green" / "000.png", album / "yellow" / "same.png")
    shutil.copy(album / "green" / "000.png", album / "green" / "twice.png")
    learned = facts("learn", album, "--model", photos, "--on-error", "skip")
    assert (learned["new_examples"], learned["known_examples"]) == (3, 0)
    (conflict,) = learned["conflicts"]
    assert conflict["reason"] == "given as 'yellow', and its content as 'green'"
    assert not Classifier.load(photos).is_known([album / "green" / "000.png"], ["green"]).any()
    picture("red", 0).save(album / "green" / "red.png")  # learned as red
    learned = facts("learn", album / "green" / "red.png", "--label", "green", "--model", photos, "--on-error", "skip")
    assert learned["conflicts"][0]["reason"] == "given as 'green', and its content as 'red'"
    assert learned["new_examples"] == 0


def test_texts_that_are_too_long_are_told(texts: Path) -> None:
    long, fits = "red " * 40, "blue " * 14  # the network reads 16 tokens, of which two are marks
    learned = facts("learn", long, fits, "--label", "red", "--model", texts)
    assert learned["cut"] == [long]
    for command in (["predict", texts, long, fits], ["learn", f"{long}!", "--label", "red", "--model", texts]):
        printed = anacp(*command)
        assert "warning: 1 text is longer than hf:" in printed
        assert "reads, only the beginning counts: red red" in printed
    assert "warning" not in anacp("predict", texts, fits)


ENGLISH = ["where is my parcel?", "I want my money back", "the device is broken", "when does the shop open?"]
OTHERS = {
    "German": ["Wo ist denn mein Paket geblieben?", "Das Gerät ist kaputt, ich hätte gern mein Geld zurück"],
    "Russian": ["где моя посылка?", "верните мне деньги"],
    "Chinese": ["我的包裹在哪里", "请把钱退给我"],
    "Amharic": ["ሰላም ዓለም", "ጥቅሌ የት ነው"],  # none of its letters is in the vocabulary: each word is one unknown piece
}


@needs_minilm
def test_another_language_is_told(tmp_path: Path) -> None:
    model = tmp_path / "mail.anacp"
    first = anacp("learn", *ENGLISH[:2], "--label", "a", "--learner", "NCM", "--model", model)
    assert "warning" not in first + anacp("learn", *ENGLISH[2:], "--label", "b", "--model", model)
    assert "warning" not in anacp("predict", model, *ENGLISH)
    for texts in OTHERS.values():
        printed = anacp("predict", model, *texts)
        assert "warning: 2 texts do not look like English, which minilm-l6 was made for" in printed
        assert printed.count("warning") == 1
        assert package.load(model).answer(texts).foreign == texts
    assert "warning" not in anacp("predict", model, *ENGLISH * 5, OTHERS["German"][0])  # one among many
    learned = anacp("learn", *OTHERS["German"], "--label", "a", "--model", model)
    assert "warning: 2 texts do not look like English" in learned


def test_words_for_one(photos: Path, texts: Path, tmp_path: Path, models: dict[str, Path], error_of) -> None:
    one = folder(tmp_path / "one", ["green"], range(1))
    base = models["photos"].parent
    made = ["--model", tmp_path / "one.anacp", "--backbone", f"hf:{base / 'vit'}"]
    assert "1 example of 1 class" in anacp("learn", one, *made, "--learner", "NCM")
    assert "1 class, 1 example>" in repr(Classifier.load(tmp_path / "one.anacp"))
    assert "solved for 1 class in" in anacp("solve", tmp_path / "one.anacp")
    anacp("learn", one, "--model", photos)
    picture("yellow", 1).save(tmp_path / "one" / "green" / "other.png")
    folder(tmp_path / "one", ["yellow"], range(1))
    printed = anacp("evaluate", photos, tmp_path / "one")
    assert "left out: 1 example of classes" in printed
    assert "1 example of these learned" in printed


def test_different_learners_are_said_before_shared_examples(photos: Path, tmp_path: Path, error_of) -> None:
    base = Classifier.load(photos)
    shown = folder(tmp_path / "album", ["blue", "red"], range(2))
    items = sorted(shown.rglob("*.png"))
    labels = [item.parent.name for item in items]
    for name, learner in (("two", "SLDA"), ("three", "Ridge"), ("four", "Ridge")):
        made = Classifier(base.encoder, learner)
        if name == "four":
            made = Classifier(base.encoder, made.learner.set_params(ridge=3.0))
        made.learn(items, labels)
        made.save(tmp_path / f"{name}.anacp")
    assert "of one learner, got NCM and SLDA" in error_of("merge", photos, tmp_path / "two.anacp", "-o", tmp_path / "x")
    both = tmp_path / "three.anacp", tmp_path / "four.anacp"
    assert "equal parameters, got different ridge" in error_of("merge", *both, "-o", tmp_path / "x")
    assert not (tmp_path / "x").exists()
