"""Backbones that were used on this machine, and a hash of their files then: what a model file may ask for.

A person who names a backbone decides; a model file that names one does not. It is given presets and what a person named
here before, as long as the files are the same.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from anacp.errors import MismatchError
from anacp.files import home, read_json, replacing

# What transformers and torch read of a folder of weights: numbers, settings, vocabularies, code.
READ = (".safetensors", ".bin", ".pt", ".pth", ".json", ".txt", ".model", ".py", ".jinja")


def files_of(folder: Path) -> list[Path]:
    """Return the files of a folder that decide what a network loaded from it is."""
    return sorted(path for path in folder.iterdir() if path.suffix in READ and path.is_file())


def is_remembered(name: str) -> bool:
    """Say whether a backbone of that name was used here."""
    return name in _remembered()


def remembered_hash(name: str) -> str | None:
    """Return the hash of the files that were used under a name."""
    return _remembered().get(name)


def remember(name: str, files: Sequence[Path]) -> str:
    """Note that a backbone is used, and what its files are: return their hash."""
    known, found = _remembered(), hash_of_files(files)
    noted = known | {name: found}
    if noted != known:
        with suppress(OSError), replacing(_memory()) as temporary:  # where nothing can be kept, nothing is known later
            temporary.write_text(json.dumps(noted, indent=1))
    return found


def check_unchanged(name: str, files: Sequence[Path]) -> str:
    """Return the hash of files that have not been loaded yet; refuse others than were used under this name."""
    known, found = remembered_hash(name), hash_of_files(files)
    if known not in (None, found):
        raise MismatchError(
            f"Expected the files of {name} as they were when it was last named here, got others at {files[0].parent}: "
            f"they are not loaded for a model file. If you changed them, name it: --backbone {name}."
        )
    return found


def hash_of_files(files: Sequence[Path]) -> str:
    """Return a hash of the names and contents of files."""
    whole = hashlib.blake2b(digest_size=16)
    for path in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        whole.update(f"{path.name} {content}\n".encode())
    return whole.hexdigest()


def _memory() -> Path:
    return home() / "backbones.json"


def _remembered() -> dict[str, str]:
    try:
        found = read_json(_memory())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
