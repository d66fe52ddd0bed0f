"""Which classes come when. Indices and labels only, no data."""

from anacp.scenarios.class_incremental import ClassIncremental, Task

__all__ = ["ClassIncremental", "Task"]
