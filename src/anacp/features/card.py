"""The card of a stored extraction: what it is, readable by people, and which shards are done."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anacp.atomic import replacing
from anacp.errors import FeatureStoreError
from anacp.version import __version__

__all__ = ["Card", "Shard", "Skipped"]

CARD_VERSION = 1


@dataclass(frozen=True)
class Shard:
    """One finished file of rows."""

    file: str
    rows: int
    bytes: int
    checksum: str  # BLAKE2b of the file


@dataclass(frozen=True)
class Skipped:
    """An item without a row."""

    position: int
    name: str
    reason: str


@dataclass(frozen=True)
class Card:
    """What an entry of the store holds. The shards listed here are whole; any other file in the folder is not."""

    backbone: str
    fingerprint: str
    adaptation: str | None
    modality: str
    source: str
    n_items: int
    n_features: int
    items_per_shard: int
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    written_by: str = f"anacp {__version__}"
    card_version: int = CARD_VERSION
    shards: tuple[Shard, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def n_shards(self) -> int:
        """How many shards there will be when all is extracted."""
        return -(-self.n_items // self.items_per_shard)

    @property
    def complete(self) -> bool:
        """Whether every item has its row or its reason."""
        return len(self.shards) == self.n_shards

    @property
    def n_rows(self) -> int:
        """How many rows are stored."""
        return sum(shard.rows for shard in self.shards)

    @property
    def n_bytes(self) -> int:
        """How many bytes the shards take."""
        return sum(shard.bytes for shard in self.shards)

    @property
    def age_days(self) -> float:
        """Days since the extraction began."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.created)).total_seconds() / 86400

    def truncated(self, n_shards: int) -> "Card":
        """Return the card as it was when only the first `n_shards` were done."""
        limit = n_shards * self.items_per_shard
        kept = tuple(item for item in self.skipped if item.position < limit)
        return replace(self, shards=self.shards[:n_shards], skipped=kept)

    def write(self, path: Path) -> None:
        """Write all or nothing."""
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Card":
        """Return the card, or say what is wrong with it."""
        try:
            stated: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            version = int(stated.get("card_version", 0))
            if version <= CARD_VERSION:
                stated["shards"] = tuple(Shard(**shard) for shard in stated["shards"])
                stated["skipped"] = tuple(Skipped(**item) for item in stated["skipped"])
                return cls(**stated)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
            raise FeatureStoreError(
                f"Expected a readable card, got none at {path} ({problem}). "
                "Extract again, or remove the entry with `anacp features prune`."
            ) from problem
        raise FeatureStoreError(
            f"Expected card version {CARD_VERSION} or older, got {version}: {path}. Upgrade anacp to read it."
        )
