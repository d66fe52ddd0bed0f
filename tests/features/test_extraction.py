import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from anacp.errors import FeatureStoreError, ImageError, InputError, ParameterError
from anacp.features import FeatureStore, extract, features_of
from tests.backbones.models import needs_minilm, pictures
from tests.backbones.test_backbone import small


class Counting:
    """A backbone and how many rows it was asked for."""

    def __init__(self) -> None:
        self.backbone = small()
        self.rows = 0
        batches = self.backbone.batches

        def counted(inputs, **options):
            for batch in batches(inputs, **options):
                self.rows += len(batch.kept)
                yield batch

        self.backbone.batches = counted


@pytest.fixture
def files(tmp_path) -> list[Path]:
    folder = tmp_path / "images"
    (folder / "deep").mkdir(parents=True)
    paths = [folder / f"{number}.png" for number in range(6)] + [folder / "deep" / "6.png"]
    for path, image in zip(paths, pictures(7), strict=True):
        image.save(path)
    return paths


@pytest.fixture
def store(tmp_path) -> FeatureStore:
    return FeatureStore(tmp_path / "store")


def finish(steps):
    """Run a generator to its end; return what it yielded and its value."""
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as end:
            return yielded, end.value


def test_extracted_once_and_found_again(files, store) -> None:
    counting = Counting()
    seen = []
    first = features_of(counting.backbone, files, store=store, progress=seen.append)
    np.testing.assert_allclose(first.x, small().encode(files), atol=1e-6)
    assert first.kept.tolist() == list(range(7))
    assert counting.rows == 7
    assert [step.stage for step in seen] == ["identify", "check", "extract", "extract"]
    assert (seen[-1].done, seen[-1].total) == (7, 7)
    again = features_of(counting.backbone, [str(path) for path in files], store=store)
    np.testing.assert_array_equal(again.x, first.x)
    assert counting.rows == 7
    moved = files[0].parent.rename(files[0].parent.with_name("moved"))
    features_of(counting.backbone, [moved / path.relative_to(files[0].parent) for path in files], store=store)
    assert counting.rows == 7
    assert len(store.entries()) == 1


def test_other_data_or_backbone_is_another_entry(files, store) -> None:
    backbone = small()
    keys = {features_of(backbone, files, store=store).entry.key}
    keys.add(features_of(backbone, files[::-1], store=store).entry.key)
    keys.add(features_of(backbone, files[:-1], store=store).entry.key)
    keys.add(features_of(backbone.with_module(backbone.module(), "adapted"), files, store=store).entry.key)
    pictures(1, seed=9)[0].save(files[0])
    keys.add(features_of(backbone, files, store=store).entry.key)
    images = [Image.open(path) for path in files]
    keys.add(features_of(backbone, images, store=store).entry.key)
    assert len(keys) == len(store.entries()) == 6


def test_card_is_readable(files, store) -> None:
    entry = features_of(small(), files, store=store).entry
    card = json.loads((entry.folder / "card.json").read_text())
    assert (card["backbone"], card["modality"], card["n_items"], card["n_features"]) == ("small", "image", 7, 6)
    assert card["source"] == str(files[0].parent)
    assert card["written_by"].startswith("anacp ")
    assert [shard["rows"] for shard in card["shards"]] == [7]
    assert entry.problems() == []


def test_bad_files_are_skipped_by_name(files, store) -> None:
    files[2].write_text("no image")
    files[4].write_bytes(files[4].read_bytes()[:-60])
    files[6].unlink()
    result = features_of(small(), files, store=store, on_error="skip", batch_size=2)
    assert result.kept.tolist() == [0, 1, 3, 5]
    assert [item for item, _ in result.skipped] == [files[2], files[4], files[6]]
    assert all(str(item) in reason for item, reason in result.skipped)
    np.testing.assert_allclose(result.x, small().encode([files[position] for position in (0, 1, 3, 5)]), atol=1e-6)
    assert [item.name for item in result.entry.card.skipped] == ["2.png", "4.png", "deep/6.png"]
    again = features_of(small(), files, store=store, on_error="skip")
    assert again.kept.tolist() == [0, 1, 3, 5]
    assert again.skipped == result.skipped
    with pytest.raises(ImageError, match=r"2.png.*3 such in all"):
        features_of(small(), files, store=store)


def test_refusing_looks_at_headers_first_and_keeps_what_was_done(files, store) -> None:
    counting = Counting()
    whole = files[5].read_bytes()
    files[5].write_text("no image")
    with pytest.raises(ImageError, match=r"5.png"):
        features_of(counting.backbone, files, store=store)
    assert counting.rows == 0
    files[5].write_bytes(whole[:-60])  # a good header: found out only when decoding
    with pytest.raises(ImageError, match=r"5.png"):
        finish(extract(counting.backbone, files, store=store, items_per_shard=2, batch_size=2))
    assert counting.rows == 4
    (unfinished,) = store.entries()
    assert unfinished.card.n_rows == 4
    result = features_of(counting.backbone, files, store=store, on_error="skip", batch_size=2)
    assert counting.rows == 4 + 2
    assert result.kept.tolist() == [0, 1, 2, 3, 4, 6]


def test_abandoned_and_damaged_extractions_continue(files, store) -> None:
    counting = Counting()
    steps = extract(counting.backbone, files, store=store, items_per_shard=2, batch_size=2)
    while next(steps).done < 4 or counting.rows < 6:  # two shards are written when the third was computed
        pass
    steps.close()
    counting.rows = 0
    _, entry = finish(extract(counting.backbone, files, store=store))
    assert counting.rows == 3
    expected = small().encode(files)
    shard = entry.folder / entry.card.shards[2].file
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    assert any("checksum" in problem for problem in entry.problems())
    np.testing.assert_allclose(features_of(counting.backbone, files, store=store).x, expected, atol=1e-6)
    assert counting.rows == 3 + 3
    assert entry.problems() == []
    (entry.folder / "card.json").write_text("{")
    with pytest.raises(FeatureStoreError, match="readable card"):
        entry.card  # noqa: B018
    np.testing.assert_allclose(features_of(counting.backbone, files, store=store).x, expected, atol=1e-6)


def test_a_newer_card_is_refused(files, store) -> None:
    entry = features_of(small(), files, store=store).entry
    path = entry.folder / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"card_version": 99}))
    assert "Upgrade anacp" in entry.problems()[0]


KILLED = """
import os, signal, sys
from pathlib import Path
from anacp.features import FeatureStore, extract
from tests.backbones.test_backbone import small

backbone, files = small(), sorted(Path(sys.argv[1]).rglob("*.png"))
for step in extract(backbone, files, store=FeatureStore(Path(sys.argv[2])), items_per_shard=2, batch_size=1):
    if step.stage == "extract" and step.done == 5:  # in the middle of the third shard
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_extraction_resumes_at_the_first_missing_shard(files, store) -> None:
    ordered = sorted(files[0].parent.rglob("*.png"))
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    command = [sys.executable, "-c", KILLED, str(files[0].parent), str(store.root)]
    assert subprocess.run(command, env=environment).returncode == -signal.SIGKILL
    (entry,) = store.entries()
    assert entry.card.n_rows == 4
    assert entry.problems() == []
    counting = Counting()
    result = features_of(counting.backbone, ordered, store=store)
    assert counting.rows == 3
    np.testing.assert_allclose(result.x, small().encode(ordered), atol=1e-6)


def test_inputs_are_checked(files, store) -> None:
    for wrong in ({"on_error": "ignore"}, {"batch_size": 0}):
        with pytest.raises(ParameterError):
            features_of(small(), files, store=store, **wrong)
    with pytest.raises(InputError, match="Put it into a list"):
        features_of(small(), "one.png", store=store)
    assert features_of(small(), [], store=store).x.shape == (0, 6)


@needs_minilm
def test_texts(store) -> None:
    from anacp.backbones import backbone

    minilm = backbone("minilm-l6")
    texts = ["a much longer first sentence about nothing in particular", "short", "of middling length"]
    result = features_of(minilm, texts, store=store, batch_size=2)
    np.testing.assert_allclose(result.x, minilm.encode(texts), atol=1e-5)  # rows stand in the order of the texts
    np.testing.assert_array_equal(features_of(minilm, texts, store=store).x, result.x)
    with pytest.raises(InputError, match="got int at position 1"):
        features_of(minilm, ["text", 3], store=store)
