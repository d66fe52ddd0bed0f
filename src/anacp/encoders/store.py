"""The feature store: computed once, found again by what an item is, wherever it lies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from anacp.backbones import Backbone
from anacp.encoders.stored import CARD_VERSION, FeatureCard, Shard, StoredFeatures
from anacp.errors import FeatureStoreError
from anacp.files import home, remove_folder


class FeatureStore:
    """A folder of features, a folder inside it for each network that made some.

    Several processes may use it at once.

    Parameters
    ----------
    root : Path, optional
        Where it is kept; ANACP_HOME/features by default.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        self.root = Path(root) if root is not None else home() / "features"

    def features(self, backbone: Backbone) -> StoredFeatures:
        """Return what a backbone has made so far, to look up and to add to.

        Raises
        ------
        FeatureStoreError
            If a newer version of anacp keeps features of this backbone here.
        """
        card, folder = FeatureCard.of(backbone), self.root / backbone.fingerprint
        if FeatureCard.version_at(folder) > CARD_VERSION:
            FeatureCard.read(folder)  # says so
        return StoredFeatures(folder, card)

    def clear(self) -> None:
        """Delete everything."""
        remove_folder(self.root)

    def entries(self) -> list[FeatureEntry]:
        """Return what is stored, in order of keys."""
        with suppress(FileNotFoundError):
            return [FeatureEntry(path) for path in sorted(self.root.iterdir()) if path.is_dir() and path.name[0] != "."]
        return []


class FeatureEntry:
    """The features that one network made: a folder with a card and shards of rows.

    Another process may remove it at any time; then it has no rows, no bytes, and a card that is not to be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def key(self) -> str:
        """The fingerprint that names the entry."""
        return self.folder.name

    @property
    def card(self) -> FeatureCard:
        """Whose features they are; a `FeatureStoreError` if that is not to be read, or of another version."""
        return FeatureCard.read(self.folder)

    @property
    def n_rows(self) -> int:
        """How many rows the readable shards hold."""
        return len(StoredFeatures(self.folder, self.card))

    @property
    def n_bytes(self) -> int:
        """Bytes on disk, whole or not."""
        return sum(facts.st_size for facts in self._files())

    @property
    def age_days(self) -> float:
        """Days since something was last added."""
        return (time.time() - max((facts.st_mtime for facts in self._files()), default=time.time())) / 86400

    def problems(self) -> list[str]:
        """Return what is wrong with the entry, every row read."""
        try:
            card = self.card
        except FeatureStoreError as problem:
            return [str(problem)]
        found = []
        for path in Shard.files(self.folder):
            try:
                Shard(path, card.fingerprint).x  # noqa: B018 (reading it checks it)
            except FeatureStoreError as problem:
                found.append(str(problem))
        return found

    def remove(self) -> None:
        """Delete the entry; it leaves the store at once, even if deleting is interrupted."""
        remove_folder(self.folder)

    def _files(self) -> Iterator[os.stat_result]:
        """Yield the facts of each file; of those that are still there, should another process remove it."""
        for parent, _, names in os.walk(self.folder):  # passes over a folder that is gone
            for name in names:
                with suppress(FileNotFoundError):
                    yield os.stat(os.path.join(parent, name))
