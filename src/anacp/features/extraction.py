"""Extraction: items through a backbone into the store, with progress, and resumed where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from anacp.backbones import Backbone, check_header
from anacp.backbones.inputs import OnError
from anacp.errors import FeatureStoreError, ImageError, InputError, ParameterError
from anacp.features.card import Card, Skipped
from anacp.features.identity import common_folder, item_digests, item_name
from anacp.features.store import Entry, FeatureStore

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Extracted", "Progress", "extract", "features_of"]

ITEMS_PER_SHARD = 2048


@dataclass(frozen=True)
class Progress:
    """How far an extraction is. Stages come in this order; what the store already has is not repeated."""

    stage: Literal["identify", "check", "extract"]
    done: int
    total: int
    skipped: int = 0


@dataclass(frozen=True)
class Extracted:
    """Features and what became of each item."""

    x: NDArray[np.float32]  # (k, d)
    kept: NDArray[np.intp]  # (k,) positions of the rows among the items
    skipped: list[tuple[Any, str]]  # item and reason
    entry: Entry


def extract(
    backbone: Backbone,
    items: Sequence[str | Path | Image],
    *,
    store: FeatureStore | None = None,
    on_error: OnError = "refuse",
    batch_size: int = 32,
    items_per_shard: int = ITEMS_PER_SHARD,
) -> Generator[Progress, None, Entry]:
    """Yield progress while the features of the items enter the store; the generator's value is their entry.

    Every shard that is finished stays, whatever happens next: a second call continues at the first that is missing or
    damaged, and costs no network run at all when everything is there.

    Parameters
    ----------
    backbone : Backbone
        What encodes.
    items : sequence
        Texts, or paths and Pillow images.
    store : FeatureStore, optional
        The default store if left out.
    on_error : {"refuse", "skip"}
        What to do with an image that cannot be read. "refuse" looks at all headers before the first is encoded.
    batch_size : int
        Inputs per run of the network.
    items_per_shard : int
        How much work a crash may cost.

    Raises
    ------
    ImageError
        With "refuse", for the first image that cannot be read.
    """
    if on_error not in ("refuse", "skip"):
        raise ParameterError(f"Expected on_error 'refuse' or 'skip', got {on_error!r}. Choose one of the two.")
    if batch_size < 1 or items_per_shard < 1:
        raise ParameterError("Expected batch_size and items_per_shard of at least 1. Choose positive numbers.")
    if isinstance(items, str | Path):
        raise InputError("Expected a sequence of items, got a single one. Put it into a list.")
    root = common_folder(items) if backbone.modality == "image" else None
    digests = []
    for digest in item_digests(items, backbone.modality, root):
        digests.append(digest)
        if len(digests) % ITEMS_PER_SHARD == 0 or len(digests) == len(items):
            yield Progress("identify", len(digests), len(items))
    entry = (store or FeatureStore()).entry(backbone.fingerprint, digests)
    card = _stored(entry) or _new_card(backbone, items, root, items_per_shard)
    if on_error == "refuse":
        if card.skipped:
            raise ImageError(f"{card.skipped[0].reason} ({len(card.skipped)} such in all.)")
        if not card.complete and backbone.modality == "image":
            yield from _check_headers(items, len(card.shards) * card.items_per_shard)
    if not card.complete or not card.n_items:
        entry.write_card(card)
    while not card.complete:
        card = yield from _extract_shard(backbone, items, entry, card, root, on_error, batch_size)
    yield Progress("extract", len(items), len(items), len(card.skipped))
    return entry


def features_of(
    backbone: Backbone,
    items: Sequence[str | Path | Image],
    *,
    store: FeatureStore | None = None,
    on_error: OnError = "refuse",
    batch_size: int = 32,
    items_per_shard: int = ITEMS_PER_SHARD,
    progress: Callable[[Progress], None] | None = None,
) -> Extracted:
    """Return the features of the items, from the store as far as it has them; see `extract`."""
    steps = extract(
        backbone, items, store=store, on_error=on_error, batch_size=batch_size, items_per_shard=items_per_shard
    )
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            entry: Entry = end.value
            break
        if progress is not None:
            progress(step)
    card = entry.card
    x = np.empty((card.n_rows, card.n_features), np.float32)
    start = 0
    for shard in card.shards:
        x[start : start + shard.rows] = entry.rows(card, shard)
        start += shard.rows
    lost = {item.position for item in card.skipped}
    kept = np.array([position for position in range(len(items)) if position not in lost], np.intp)
    return Extracted(x, kept, [(items[item.position], item.reason) for item in card.skipped], entry)


def _stored(entry: Entry) -> Card | None:
    """Return the card with the shards that are whole, up to the first that is not; None if there is nothing."""
    try:
        card = entry.card
    except FeatureStoreError:
        return None
    for number, shard in enumerate(card.shards):
        try:
            entry.rows(card, shard)
        except FeatureStoreError:
            return card.truncated(number)
    return card


def _new_card(backbone: Backbone, items: Sequence[Any], root: Path | None, items_per_shard: int) -> Card:
    return Card(
        backbone=backbone.preset.name,
        fingerprint=backbone.fingerprint,
        adaptation=backbone.adaptation,
        modality=backbone.modality,
        source=str(root) if root else f"{len(items)} {backbone.modality}s in memory",
        n_items=len(items),
        n_features=backbone.n_features,
        items_per_shard=items_per_shard,
    )


def _check_headers(items: Sequence[Any], start: int) -> Generator[Progress, None, None]:
    for position in range(start, len(items)):
        check_header(items[position])
        if (position + 1) % ITEMS_PER_SHARD == 0 or position + 1 == len(items):
            yield Progress("check", position + 1, len(items))


def _extract_shard(
    backbone: Backbone,
    items: Sequence[Any],
    entry: Entry,
    card: Card,
    root: Path | None,
    on_error: OnError,
    batch_size: int,
) -> Generator[Progress, None, Card]:
    start = len(card.shards) * card.items_per_shard
    members = items[start : start + card.items_per_shard]
    x = np.empty((len(members), backbone.n_features), np.float32)
    skipped: list[Skipped] = []
    done = 0
    for batch in backbone.batches(members, batch_size=batch_size, on_error=on_error):
        x[batch.kept] = batch.x
        for position, reason in batch.skipped:
            skipped.append(Skipped(start + position, item_name(members[position], root), reason))
        done += len(batch.kept) + len(batch.skipped)
        yield Progress("extract", start + done, len(items), len(card.skipped) + len(skipped))
    lost = {item.position - start for item in skipped}
    return entry.append(card, x[[row for row in range(len(members)) if row not in lost]], skipped)
