"""A store that was pruned under a reader ended in raw OSErrors."""

import shutil
from pathlib import Path

from anacp.encoders import Encoder, FeatureStore
from anacp.errors import AnacpError
from tests.fuzz.tiny import network


def check(folder: Path) -> None:
    encoder, store = Encoder(network(folder / "home")), FeatureStore(folder / "store")
    texts = [f"the red tree {i}" for i in range(600)]
    fresh = encoder.encode(texts).x
    for prune in (_remove_entry, _remove_folder):
        encoder.encode(texts, store=store)
        reader = store.features(encoder.backbone)
        entries = store.entries()
        prune(store)
        (entry,) = entries
        for ask in (
            lambda reader=reader: reader.get(encoder.digests(texts)[0]),
            *(
                lambda name=name, entry=entry: getattr(entry, name)
                for name in ("card", "n_rows", "n_bytes", "age_days")
            ),
            entry.problems,
            entry.remove,
        ):
            try:
                ask()
            except AnacpError as problem:
                assert "\n" not in str(problem)
        assert (encoder.encode(texts, store=store).x == fresh).all()


def _remove_entry(store: FeatureStore) -> None:
    for entry in store.entries():
        entry.remove()


def _remove_folder(store: FeatureStore) -> None:
    shutil.rmtree(store.root)
