"""Inputs → rows for a learner, with or without a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.backbones import Backbone
from anacp.backbones.inputs import OnError
from anacp.features import Entry, FeatureStore, Progress, features_of

__all__ = ["Encoded", "ProgressCallback", "encode"]

ProgressCallback = Callable[[Progress], None]

# How much work a kill may cost: a few seconds on two cores.
ITEMS_PER_SHARD = 512


@dataclass(frozen=True)
class Encoded:
    """Features and what became of each item."""

    x: NDArray[np.float32]  # (k, d)
    kept: NDArray[np.intp]  # (k,) positions of the rows among the items
    skipped: list[tuple[Any, str]]  # item and reason
    entry: Entry | None = None


def encode(
    backbone: Backbone,
    items: Sequence[Any],
    *,
    store: FeatureStore | None,
    on_error: OnError,
    progress: ProgressCallback | None,
) -> Encoded:
    """Return the features of the items; what was extracted before comes from the store, if there is one."""
    # A text that is padded to its neighbours' length gets other last digits than alone. Alone, it always gets the
    # same, so that forgetting takes out exactly what learning put in.
    batch_size = 1 if backbone.modality == "text" else 32
    if store is not None:
        found = features_of(
            backbone,
            items,
            store=store,
            on_error=on_error,
            batch_size=batch_size,
            items_per_shard=ITEMS_PER_SHARD,
            progress=progress,
        )
        return Encoded(found.x, found.kept, found.skipped, found.entry)
    x = np.empty((len(items), backbone.n_features), np.float32)
    kept: list[int] = []
    skipped: list[tuple[Any, str]] = []
    for batch in backbone.batches(items, batch_size=batch_size, on_error=on_error):
        x[batch.kept] = batch.x
        kept += batch.kept
        skipped += [(items[position], reason) for position, reason in batch.skipped]
        if progress is not None:
            progress(Progress("extract", len(kept) + len(skipped), len(items), len(skipped)))
    rows = np.sort(np.array(kept, np.intp))
    return Encoded(x[rows], rows, skipped)
