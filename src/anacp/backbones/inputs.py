"""From a batch of paths, images or texts to the arrays a network takes. Both kinds have one form, `Reader`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from anacp.backbones.images import open_image
from anacp.backbones.preprocessing import ImagePreprocessing
from anacp.errors import ImageError, InputError
from anacp.randomness import standard_normal

__all__ = ["ImageReader", "OnError", "Prepared", "ProcessorReader", "Reader", "TextReader"]

OnError = Literal["refuse", "skip"]
Arrays = dict[str, NDArray[Any]]


@dataclass
class Prepared:
    """A batch ready for the network: which of its items made it, and why the others did not."""

    arrays: Arrays = field(default_factory=dict)
    kept: list[int] = field(default_factory=list)
    skipped: list[tuple[int, str]] = field(default_factory=list)


class Reader(Protocol):
    """What turns inputs into arrays."""

    workers: int  # how many batches may be prepared at the same time

    def order(self, inputs: Sequence[Any]) -> list[int]:
        """Return the order in which the inputs are best encoded."""

    def read(self, inputs: Sequence[Any], on_error: OnError) -> Prepared:
        """Return the arrays of one batch."""

    def example(self) -> Arrays:
        """Return a batch of two, to export a network with and to compare engines on."""


class ImageReader:
    """Open, resize, crop and normalise."""

    workers = 4

    def __init__(self, preprocessing: ImagePreprocessing) -> None:
        self._preprocessing = preprocessing

    def order(self, inputs: Sequence[Any]) -> list[int]:
        """Images are all of one size: as they come."""
        return list(range(len(inputs)))

    def read(self, inputs: Sequence[Any], on_error: OnError) -> Prepared:
        """Return `pixel_values` of the images that can be read."""  # (n, 3, height, width)
        prepared, rows = Prepared(), []
        for index, source in enumerate(inputs):
            try:
                rows.append(self._pixels(source))
                prepared.kept.append(index)
            except ImageError as problem:
                if on_error == "refuse":
                    raise
                prepared.skipped.append((index, str(problem)))
        if rows:
            prepared.arrays["pixel_values"] = np.stack(rows)
        return prepared

    def example(self) -> Arrays:
        """Return one picture of smooth colours and one of noise."""
        from PIL import Image

        levels = np.linspace(0, 255, 256, dtype=np.uint8)
        ramp = np.stack(np.broadcast_arrays(levels[:, None], levels[None, :], levels[::-1, None]), -1)
        noise = (128 + 64 * standard_normal(0, "engine example", 256, 256, 3)).clamp(0, 255).byte().numpy()
        return self.read([Image.fromarray(ramp), Image.fromarray(noise)], "refuse").arrays

    def _pixels(self, source: Any) -> NDArray[np.float32]:
        return self._preprocessing(open_image(source))


class ProcessorReader(ImageReader):
    """Open, then whatever the model's own image processor does."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def _pixels(self, source: Any) -> NDArray[np.float32]:
        pixels: Any = self._processor(images=open_image(source), return_tensors="np")["pixel_values"]
        return np.asarray(pixels[0], np.float32)


class TextReader:
    """Tokenize, and pad to the longest text of the batch."""

    workers = 1  # a tokenizer changes its own padding state when called: one thread only

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def order(self, inputs: Sequence[Any]) -> list[int]:
        """Texts of like length together: little padding, little wasted work."""
        for index, text in enumerate(inputs):
            if not isinstance(text, str):
                raise InputError(
                    f"Expected texts, got {type(text).__name__} at position {index}. "
                    "Convert it to a string; paths and images need an image backbone."
                )
        # Counted in tokens, not characters: tokenizing twice costs far less than the padding it saves.
        lengths = [len(numbers) for numbers in self._tokens(inputs)["input_ids"]] if len(inputs) else []
        return sorted(range(len(inputs)), key=lengths.__getitem__)

    def read(self, inputs: Sequence[Any], on_error: OnError) -> Prepared:
        """Return `input_ids` and `attention_mask`."""  # (n, tokens) each
        tokens = self._tokens(inputs, padding=True, return_tensors="np")
        arrays = {name: np.asarray(tokens[name], np.int64) for name in ("input_ids", "attention_mask")}
        return Prepared(arrays, list(range(len(inputs))))

    def example(self) -> Arrays:
        """Return two texts of different length, so that padding is part of every comparison."""
        return self.read(["a short text", "and a second one that is a little longer than the first"], "refuse").arrays

    def _tokens(self, inputs: Sequence[str], **options: Any) -> Any:
        return self._tokenizer(list(inputs), truncation=True, max_length=self._max_tokens, **options)
