"""Where pretrained weights are looked for: a folder of your own first, then a package, then the hub."""

from importlib.util import find_spec
from pathlib import Path

from anacp.home import home

__all__ = ["package_folder", "weights_folder"]


def weights_folder() -> Path:
    """Return the folder for weights that you bring: ANACP_HOME/weights."""
    return home() / "weights"


def package_folder(package: str) -> Path | None:
    """Return where a package is installed, without importing it; None if it is not."""
    found = find_spec(package)
    return Path(found.origin).parent if found is not None and found.origin is not None else None
