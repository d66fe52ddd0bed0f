"""From paths, images or texts to the arrays a network takes, the next batches while it works on this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from anacp.backbones.languages import Language, looks_foreign
from anacp.backbones.preprocessing import ImagePreprocessing
from anacp.items import Modality, as_text, hold, open_image
from anacp.threads import OwnLock

Arrays = dict[str, NDArray[Any]]
# Texts on which a plain tokenizer must agree with transformers' own: other scripts, odd spaces, marks, cut ones.
TRIED = (
    "",
    "a short text",
    "Ünïcode, 漢字,\tтекст 😀\u200b  and   spaces\n",
    "[CLS] <s> </s> ##a",
    "many words " * 400,
)
UNCUT = 2**30  # tokens
T = TypeVar("T")
R = TypeVar("R")


class Reader(Protocol):
    """What turns inputs into arrays."""

    workers: int  # how many batches may be prepared at the same time
    batch_size: int  # how many inputs may share a run of the network without a trace in each other's features

    def order(self, inputs: Sequence[Any]) -> list[int]:
        """Return the order in which batches of the inputs need the least work."""

    def read(self, inputs: Sequence[Any]) -> Arrays:
        """Return the arrays of one batch."""

    def is_cut(self, item: Any, arrays: Arrays) -> bool:
        """Say whether the arrays, those of one input, hold only its beginning."""

    def is_foreign(self, item: Any, arrays: Arrays) -> bool:
        """Say whether an input does not look like what the network was made for; that is known of some languages."""

    def example(self) -> Arrays:
        """Return a batch of two, to export a network with and to compare engines on."""


class ImageReader:
    """Open, resize, crop and normalise."""

    workers = 4
    batch_size = 32

    def __init__(self, preprocessing: ImagePreprocessing) -> None:
        self._preprocessing = preprocessing

    def order(self, inputs: Sequence[Any]) -> list[int]:
        """Images are all of one size: as they come."""
        return list(range(len(inputs)))

    def read(self, inputs: Sequence[Any]) -> Arrays:
        """Return `pixel_values` of the images."""  # (n, 3, height, width)
        return {"pixel_values": np.stack([self._pixels(source) for source in inputs])}

    def is_cut(self, item: Any, arrays: Arrays) -> bool:
        """No picture is: all of it is resized."""
        return False

    def is_foreign(self, item: Any, arrays: Arrays) -> bool:
        """No picture is."""
        return False

    def example(self) -> Arrays:
        """Return one picture of smooth colours and one of noise."""
        from PIL import Image

        from anacp.randomness import standard_normal

        levels = np.linspace(0, 255, 256, dtype=np.uint8)
        ramp = np.stack(np.broadcast_arrays(levels[:, None], levels[None, :], levels[::-1, None]), -1)
        noise = (128 + 64 * standard_normal(0, "engine example", 256, 256, 3)).clamp(0, 255).byte().numpy()
        return self.read([Image.fromarray(ramp), Image.fromarray(noise)])

    def _pixels(self, source: Any) -> NDArray[np.float32]:
        return self._preprocessing(open_image(source))


class ProcessorReader(ImageReader):
    """Open, then whatever the model's own image processor does."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def _pixels(self, source: Any) -> NDArray[np.float32]:
        pixels: Any = self._processor(images=open_image(source), return_tensors="np")["pixel_values"]
        return np.asarray(pixels[0], np.float32)


class PlainTokenizer:
    """The tokenizer of a transformers model from its file, without transformers."""

    def __init__(self, folder: str) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))

    def __call__(self, texts: list[str], *, max_length: int, **options: Any) -> dict[str, list[list[int]]]:
        """Return what a tokenizer of transformers does, for one text or for texts that need no padding."""
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length)
        found = self._tokenizer.encode_batch(texts)
        return {"input_ids": [one.ids for one in found], "attention_mask": [one.attention_mask for one in found]}


class TextReader:
    """Tokenize, and pad to the longest text of the batch."""

    workers = 1
    # A text that is padded to its neighbours' length gets other last digits than alone. Alone, it always gets the same,
    # so that forgetting takes out exactly what learning put in.
    batch_size = 1

    def __init__(self, tokenizer: Any, max_tokens: int, language: Language | None = None) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._language = language  # that the network was made for, where that is known
        self._lock = OwnLock()  # a tokenizer changes its own padding state when called: one thread at a time

    def order(self, inputs: Sequence[Any]) -> list[int]:
        """Texts of like length together: little padding, little wasted work."""
        # Counted in tokens, not characters: tokenizing twice costs far less than the padding it saves.
        texts = [as_text(text, place) for place, text in enumerate(inputs)]
        lengths = [len(numbers) for numbers in self._tokens(texts)["input_ids"]] if texts else []
        return sorted(range(len(texts)), key=lengths.__getitem__)

    def read(self, inputs: Sequence[Any]) -> Arrays:
        """Return `input_ids` and `attention_mask`."""  # (n, tokens) each
        tokens = self._tokens(inputs, padding=True, return_tensors="np")
        return {name: np.asarray(tokens[name], np.int64) for name in ("input_ids", "attention_mask")}

    def is_cut(self, item: Any, arrays: Arrays) -> bool:
        """Say whether a text has more tokens than the network reads."""
        if arrays["input_ids"].shape[1] < self._max_tokens:
            return False
        return len(self._tokens([item], most=self._max_tokens + 1)["input_ids"][0]) > self._max_tokens

    def is_foreign(self, item: Any, arrays: Arrays) -> bool:
        """Say whether a text does not look like the language that the network was made for."""
        if self._language is None:
            return False
        n_tokens = arrays["input_ids"].shape[1]
        if n_tokens == self._max_tokens:  # it may be cut
            n_tokens = len(self._tokens([item], most=UNCUT)["input_ids"][0])
        return looks_foreign(item, n_tokens - self._n_marks)

    @cached_property
    def _n_marks(self) -> int:
        """How many tokens stand around every text."""
        return len(self._tokens([""])["input_ids"][0])

    def example(self) -> Arrays:
        """Return two texts of different length, so that padding is part of every comparison."""
        return self.read(["a short text", "and a second one that is a little longer than the first"])

    def is_plain(self, folder: str | None) -> bool:
        """Say whether the plain tokenizer of a folder does the same."""
        try:
            plain = TextReader(PlainTokenizer(folder or ""), self._max_tokens)
        except Exception:  # no package, no such file, or one of another kind
            return False
        mine, its = ([reader.read([text]) for text in TRIED] for reader in (self, plain))
        return all(np.array_equal(one[name], two[name]) for one, two in zip(mine, its, strict=True) for name in one)

    def _tokens(self, inputs: Sequence[str], *, most: int | None = None, **options: Any) -> Any:
        with self._lock:
            return self._tokenizer(list(inputs), truncation=True, max_length=most or self._max_tokens, **options)


def read_ahead(function: Callable[[T], R], items: Iterable[T], *, workers: int) -> Generator[R, None, None]:
    """Yield function(item) in order, computed by threads; at most `workers` + 1 results wait at any time."""
    pool = ThreadPoolExecutor(workers, thread_name_prefix="anacp-read")
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # Not waiting for the threads: what a caller abandons is closed by the garbage collector, which may run inside
        # the start of a thread, where joining another one waits for a lock that this thread holds.
        pool.shutdown(wait=False, cancel_futures=True)


def digests(items: Sequence[Any], modality: Modality) -> list[bytes]:
    """Return 16 bytes for the content of each item, the same wherever it lies; an unreadable one is refused."""
    places = range(len(items))
    return list(read_ahead(lambda place: hold(items[place], modality, place).digest, places, workers=4))
