"""The laws of one pass: every item read once, its features the same bits in any company, with a store and without."""

import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from anacp.encoders import Encoder
from anacp.errors import ImageError, InputError, ParameterError
from anacp.items import content_hash
from tests.backbones.models import needs_minilm, pictures
from tests.backbones.test_backbone import small
from tests.encoders.counting import CountedImage, Counting, opened_files


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often each content is hashed."""
    counts: Counter[bytes] = Counter()

    def counted(*parts: bytes) -> str:
        counts[b"".join(parts)] += 1
        return content_hash(*parts)

    for module in ("item", "held"):
        monkeypatch.setattr(f"anacp.items.{module}.content_hash", counted)
    return counts


# Laws ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_the_same_bits_in_any_company(engine: str, files, store) -> None:
    encoder = Encoder(small(engine))
    alone = np.concatenate([encoder.encode([file]).x for file in files])
    np.testing.assert_array_equal(encoder.encode(files).x, alone)
    np.testing.assert_array_equal(encoder.encode(files[::-1]).x, alone[::-1])
    np.testing.assert_array_equal(encoder.backbone.encode(files), alone)
    np.testing.assert_array_equal(encoder.encode(files[::3], store=store).x, alone[::3])
    for _ in range(2):  # some from the store, then all
        np.testing.assert_array_equal(encoder.encode(files, store=store).x, alone)


@needs_minilm
def test_texts_have_the_same_bits_in_any_company(store) -> None:
    encoder = Encoder("minilm-l6")
    texts = ["a much longer first sentence about nothing in particular", "short", "of middling length", "", "short"]
    alone = np.concatenate([encoder.encode([text]).x for text in texts])
    np.testing.assert_array_equal(encoder.encode(texts).x, alone)
    encoder.encode(texts[1:3], store=store)
    np.testing.assert_array_equal(encoder.encode(texts[::-1], store=store).x, alone[::-1])
    with pytest.raises(InputError, match="got int at position 1"):
        encoder.encode(["text", 3])


@pytest.mark.parametrize("known", [0, 7, 20])
def test_an_item_is_opened_and_digested_once(known: int, files, store, hashed) -> None:
    Counting().encoder.encode(files[:known], store=store)
    hashed.clear()
    with opened_files() as opened:
        Counting().encoder.encode(files, store=store)
    assert [opened[str(file)] for file in files] == [1] * len(files)
    assert [hashed[file.read_bytes()] for file in files] == [1] * len(files)
    images = [CountedImage(file) for file in files]
    digests = Counting().encoder.encode(images, store=store).digests
    assert {(image.reads, image.digests) for image in images} == {(1, 0)}
    assert digests == [bytes.fromhex(content_hash(file.read_bytes())) for file in files]
    assert digests == Counting().encoder.digests(images) == Counting().encoder.digests([str(file) for file in files])


def test_one_photo_more_costs_one_photo(files, tmp_path, store) -> None:
    counting = Counting()
    counting.encoder.encode(files[:19], store=store)
    assert counting.rows == 19
    x = counting.encoder.encode(files, store=store).x
    assert counting.rows == 20
    moved = files[0].parent.rename(tmp_path / "moved")
    np.testing.assert_array_equal(counting.encoder.encode(sorted(moved.iterdir())[::-1], store=store).x, x[::-1])
    assert counting.rows == 20


def test_what_is_not_wanted_is_passed_over(files) -> None:
    counting = Counting()
    every = counting.encoder.encode(files)
    counting.rows, asked = 0, []

    def wanted(position: int, digest: bytes) -> bool:
        asked.append((position, digest))
        return position % 2 == 1

    with opened_files() as opened:
        some = counting.encoder.encode(files, wanted=wanted)
    assert asked == list(enumerate(every.digests))  # in order, so that it may count what it saw before
    assert some.kept.tolist() == list(range(1, 20, 2))
    assert some.digests == every.digests[1::2]
    np.testing.assert_array_equal(some.x, every.x[1::2])
    assert counting.rows == 10
    assert {opened[str(file)] for file in files} == {1}
    assert counting.encoder.encode(files, wanted=lambda *_: False).x.shape == (0, 6)


def test_progress_and_cost(files, store) -> None:
    backbone = small()
    run, seen = backbone.compute, []

    def slow(arrays):
        time.sleep(0.01)
        return run(arrays)

    backbone.compute = slow
    first = Encoder(backbone).encode(files, store=store, report=seen.append)
    assert [step.done for step in seen] == [8, 16, 20]
    assert seen[-1].share == 1
    assert first.seconds >= 20 * 0.01
    again = Encoder(backbone).encode(files, store=store)
    assert again.seconds >= 20 * 0.01  # what they cost when they were computed
    assert Encoder(backbone).encode(files[:1], store=store).seconds < first.seconds / 2


# Faults -------------------------------------------------------------------------------------------------------------


def spoil(files: list[Path]) -> None:
    files[2].write_text("no image")
    files[4].write_bytes(files[4].read_bytes()[:-60])  # a good header: found out only when decoding
    files[6].unlink()


def test_bad_files_are_skipped_by_name(files, store) -> None:
    spoil(files)
    good = [position for position in range(20) if position not in (2, 4, 6)]
    for _ in range(2):
        result = Encoder(small()).encode(files, store=store, on_error="skip")
        assert result.kept.tolist() == good
        assert [item for item, _ in result.skipped] == [files[2], files[4], files[6]]
        assert all(str(item) in reason for item, reason in result.skipped)
        np.testing.assert_array_equal(result.x, small().encode([files[position] for position in good]))


def test_refusing_keeps_what_was_done(files, store) -> None:
    files[17].write_bytes(files[17].read_bytes()[:-60])
    counting = Counting()
    with pytest.raises(ImageError, match=r"017.png"):
        counting.encoder.encode(files, store=store)
    assert counting.rows == 16
    assert counting.encoder.encode(files, store=store, on_error="skip").kept.tolist() == [*range(17), 18, 19]
    assert counting.rows == 19
    with pytest.raises(ImageError, match=r"017.png"):
        counting.encoder.digests([*files[:3], "017.png"])


def test_an_interrupted_pass_keeps_what_was_done(files, store) -> None:
    counting = Counting()

    def interrupt(progress) -> None:
        if progress.done == 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        counting.encoder.encode(files, store=store, report=interrupt)
    counting.encoder.encode(files, store=store)
    assert counting.rows == 20


def test_inputs_are_checked(files) -> None:
    encoder = Encoder(small())
    with pytest.raises(ParameterError, match="'ignore'"):
        encoder.encode(files, on_error="ignore")
    with pytest.raises(InputError, match="Put it into a list"):
        encoder.encode("one.png")
    with pytest.raises(ImageError, match="got int"):
        encoder.encode([*pictures(1), 7])
    empty = encoder.encode([])
    assert (empty.x.shape, empty.digests, encoder.digests([])) == ((0, 6), [], [])


def test_images_in_memory(files, store) -> None:
    counting = Counting()
    images = [Image.open(file) for file in files]
    x = counting.encoder.encode(images, store=store).x
    np.testing.assert_array_equal(x, small().encode(files))
    np.testing.assert_array_equal(counting.encoder.encode([image.copy() for image in images], store=store).x, x)
    assert counting.rows == 20
