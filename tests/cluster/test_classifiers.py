"""Texts and images learned on a cluster: what the plain command would have made of them."""

import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anacp
from anacp import cluster
from anacp.backbones import Backbone
from anacp.datasets import read_labelled
from anacp.encoders import Encoder
from anacp.errors import AnacpError, InputError, MismatchError, UnavailableError
from anacp.learners import RanPAC
from tests.adaptation.models import examples
from tests.cluster.conftest import assert_close, learner, options
from tests.cluster.pictures import picture

pytestmark = pytest.mark.cluster

Maker = Callable[..., Backbone]
READING = cluster.Reading()


@pytest.fixture(scope="module")
def texts(transformer: Maker) -> Encoder:
    return Encoder(transformer("bert"))


@pytest.fixture(scope="module")
def readers(nodes: cluster.Cluster, texts: Encoder, workers: cluster.Pool) -> Any:
    workers.close()  # each node has one processor
    made = cluster.pool_of(nodes, texts, cpus=1)
    yield made
    made.close()


def table(path: Path, rows: list[tuple[str, str]]) -> str:
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    return str(path)


def some_texts() -> list[tuple[str, str]]:
    items, labels = examples("text", 120)
    return list(dict.fromkeys(zip(items, labels.tolist(), strict=True)))


def plainly(encoder: Encoder, files: list[str], on_error: Any = "refuse") -> anacp.Classifier:
    found = read_labelled(*files, on_error=on_error)
    made = anacp.Classifier(encoder, learner())
    made.learn(list(found.items), found.labels, on_error=on_error, on_conflict=on_error)
    return made


def test_texts_given_twice_count_once_and_known_ones_not_at_all(
    nodes: cluster.Cluster, texts: Encoder, readers: cluster.Pool, tmp_path: Path
) -> None:
    rows = some_texts()
    files = [table(tmp_path / "a.csv", rows[:40] + rows[:7]), table(tmp_path / "b.csv", rows[30:])]
    known = anacp.Classifier(texts, learner())
    known.learn([text for text, _ in rows[:5]], [label for _, label in rows[:5]])
    done = cluster.learn(nodes, known, files, reading=READING, rows=8, workers=readers, source="here")
    assert (done.learned.n_new, done.learned.n_known) == (len(rows) - 5, 5 + 7 + 10)
    assert known.n_examples == 5, "what learns stays as it is"

    expected = plainly(texts, files)
    path = tmp_path / "my.anacp"
    done.model.save(path, exact=True)
    done.summed.clear()
    found = anacp.load(path, backbone=texts.backbone)
    assert isinstance(found, anacp.Classifier)
    assert found.n_examples == expected.n_examples == len(rows)
    assert found.is_known([text for text, _ in rows], [label for _, label in rows]).all()
    assert_close(found.learner, expected.learner, texts.encode([text for text, _ in rows]).x)
    asked = [text for text, _ in rows]
    np.testing.assert_allclose(found.predict_proba(asked), expected.predict_proba(asked), atol=1e-3)
    assert [(step.what, step.n, step.source) for step in found._taught.journal][-1] == ("learn", len(rows) - 5, "here")
    found.undo()
    assert found.n_examples == 5
    again = cluster.learn(nodes, done.model, files, reading=READING, rows=8, workers=readers)
    assert (again.learned.n_new, again.learned.n_known) == (0, len(rows) + 17)
    again.summed.clear()


def test_content_of_two_classes_is_refused_or_left_out(
    nodes: cluster.Cluster, texts: Encoder, readers: cluster.Pool, tmp_path: Path
) -> None:
    rows = some_texts()
    files = [table(tmp_path / "a.csv", rows[:20]), table(tmp_path / "b.csv", [*rows[20:40], (rows[3][0], "other")])]
    new = anacp.Classifier(texts, learner())
    with pytest.raises(InputError, match="one class for each content, got 2"):
        cluster.learn(nodes, new, files, reading=READING, on_conflict="refuse", rows=8, workers=readers)
    reading = cluster.Reading(on_error="skip")
    done = cluster.learn(nodes, new, files, reading=reading, on_conflict="skip", rows=8, workers=readers)
    assert [(one.label, one.other) for one in done.learned.conflicts] == [(rows[3][1], "other"), ("other", rows[3][1])]
    assert done.learned.n_new == 39
    assert_close(done.model.learner, plainly(texts, files, "skip").learner, texts.encode([rows[0][0]]).x)
    done.summed.clear()


def test_a_part_that_cannot_be_read_is_refused_or_told(
    nodes: cluster.Cluster, texts: Encoder, readers: cluster.Pool, tmp_path: Path
) -> None:
    good = table(tmp_path / "a.csv", some_texts()[:20])
    bad = tmp_path / "b.parquet"
    bad.write_bytes(b"PAR1 poisoned")
    new = anacp.Classifier(texts, learner())
    with pytest.raises(AnacpError, match=r"b\.parquet"):
        cluster.learn(nodes, new, [good, str(bad)], reading=READING, workers=readers)
    skip = cluster.Reading(on_error="skip")
    with pytest.raises(AnacpError, match=r"b\.parquet"):
        cluster.learn(nodes, new, [good, str(bad)], reading=skip, strict=True, workers=readers)
    done = cluster.learn(nodes, new, [good, str(bad)], reading=skip, workers=readers)
    assert done.learned.n_new == 20
    assert [Path(one.place).name for one in done.summed.left_out] == ["b.parquet"]
    done.summed.clear()


def test_images_that_cannot_be_read_are_refused_or_told(
    nodes: cluster.Cluster, transformer: Maker, readers: cluster.Pool, tmp_path: Path
) -> None:
    readers.close()  # others need the processors
    folder = tmp_path / "photos"
    for number in range(30):
        place = folder / ("red" if number % 2 else "plain")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:02}.png").write_bytes(picture(number, red=bool(number % 2)))
    broken = folder / "red" / "15.png"
    broken.write_bytes(broken.read_bytes()[:200])  # it begins as a picture and can be hashed, not decoded
    encoder = Encoder(transformer("vit"))
    pool = cluster.pool_of(nodes, encoder, cpus=1)
    new = anacp.Classifier(encoder, learner())
    with pytest.raises(AnacpError, match=r"15\.png"):
        cluster.learn(nodes, new, [str(folder)], reading=READING, rows=4, workers=pool)
    reading = cluster.Reading(on_error="skip")
    done = cluster.learn(nodes, new, [str(folder)], reading=reading, rows=4, workers=pool)
    expected = plainly(encoder, [str(folder)], "skip")
    assert done.model.n_examples == expected.n_examples == 29
    assert [Path(item).name for item, _ in done.learned.skipped] == ["15.png"]
    assert_close(done.model.learner, expected.learner, encoder.encode([folder / "red" / "01.png"]).x)
    done.summed.clear()
    pool.close()


def test_weights_that_are_not_those_of_the_fingerprint_are_refused(
    nodes: cluster.Cluster, texts: Encoder, readers: cluster.Pool, tmp_path: Path
) -> None:
    readers.close()
    sent = texts.portable()
    np.testing.assert_array_equal(sent.received().encode(["red house"]).x, texts.encode(["red house"]).x)
    changed = copy.copy(sent)
    changed._given = copy.deepcopy(sent._given)
    next(changed._given._pooled.network.parameters()).data[0] += 1  # type: ignore[union-attr]
    with pytest.raises(MismatchError, match="Expected the weights of"):
        changed.received()

    class Forged(Encoder):
        def portable(self) -> Encoder:
            return changed

    forged = copy.copy(texts)
    forged.__class__ = Forged
    new = anacp.Classifier(forged, learner())
    with pytest.raises(MismatchError, match="Expected the weights of"):
        cluster.learn(nodes, new, [table(tmp_path / "a.csv", some_texts()[:9])], reading=READING)


def test_a_shard_that_ends_every_process_is_refused_or_passed_over(
    nodes: cluster.Cluster, workers: cluster.Pool, readers: cluster.Pool, source: str, rows: Any
) -> None:
    readers.close()
    _, y = rows
    deadly = y[1000]

    class Deadly(RanPAC):
        def partial_fit(self, x: Any, y: Any, **options: Any) -> Any:
            if np.any(y == deadly):
                os._exit(1)
            return super().partial_fit(x, y, **options)

    Deadly.__name__ = "RanPAC"  # as which its files are read again
    with pytest.raises(UnavailableError, match="processes that worked at it were ended"):
        cluster.summed(nodes, [source], Deadly(n_projected=20), workers=workers, **options() | {"rows": 500})
    skip = {"reading": cluster.Reading(on_error="skip"), "rows": 500}
    done = cluster.summed(nodes, [source], Deadly(n_projected=20), workers=workers, **skip)
    assert 0 < len(done.skipped) < len(y)
    assert len(done.labels) + len(done.skipped) == len(y)
    assert deadly not in done.labels.tolist()
    assert done.tally.deaths >= 4
    done.clear()
