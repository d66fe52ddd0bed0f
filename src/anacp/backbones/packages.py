"""Where packages that carry weights are installed; none is imported."""

from importlib.util import find_spec
from pathlib import Path


def package_folder(package: str) -> Path | None:
    """Return where a package is installed, without importing it; None if it is not."""
    found = find_spec(package)
    return Path(found.origin).parent if found is not None and found.origin is not None else None
