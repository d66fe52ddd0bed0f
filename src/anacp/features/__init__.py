"""Extraction with progress and resume, and the store that finds features again by what went in."""

from anacp.features.card import Card, Shard, Skipped
from anacp.features.extraction import Extracted, Progress, extract, features_of
from anacp.features.store import Entry, FeatureStore

__all__ = ["Card", "Entry", "Extracted", "FeatureStore", "Progress", "Shard", "Skipped", "extract", "features_of"]
