"""The version, alone, so that packaging reads it without importing anything."""

__version__ = "0.1.0"
