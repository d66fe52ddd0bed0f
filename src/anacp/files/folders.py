"""The one folder in which the package keeps what it must not compute or download twice."""

import os
from pathlib import Path


def home() -> Path:
    """Return the folder for weights, exported networks and features: ANACP_HOME, by default ~/.cache/anacp."""
    return Path(os.environ.get("ANACP_HOME") or Path.home() / ".cache" / "anacp").expanduser()
