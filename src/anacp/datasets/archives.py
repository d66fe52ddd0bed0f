"""Files inside zip and tar archives, found by position: no handle stays open and nothing is unpacked in memory."""

import gzip
import os
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from anacp.errors import DataFileError, MissingDataError
from anacp.files import MAX_EXPANDED, MAX_FILE, open_regular, replacing
from anacp.items import LONGEST_HEAD, EncodedImage

COMPRESSED = (".tar.gz", ".tgz")
ARCHIVE_SUFFIXES = (*COMPRESSED, ".tar", ".zip")
LOCAL_HEADER = struct.Struct("<4s22xHH")  # signature, …, length of the name, length of the extra field
END_OF_TAR = bytes(1024)
CHUNK = 1 << 20
HEAD_STORED = 4096  # deflated bytes that hold the beginning of any file: its code tables need less than 400
# What Python's readers raise on foreign bytes.
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    struct.error,
    EOFError,
    UnicodeDecodeError,
    OverflowError,
    NotImplementedError,
    MemoryError,
    RecursionError,
)


def is_archive(path: Path) -> bool:
    """Tell by its name whether a file is an archive that can be read."""
    return path.name.lower().endswith(ARCHIVE_SUFFIXES)


@dataclass(frozen=True)
class TarImage(EncodedImage):
    """A file inside a plain tar archive."""

    archive: Path
    name: str
    start: int
    size: int

    def read(self) -> bytes:
        """Return the file."""
        MAX_FILE.check(self.size, self.place())
        return _part(self.archive, self.start, self.size)

    def head(self) -> bytes:
        """Return how the file begins, without reading the rest."""
        return _part(self.archive, self.start, min(self.size, LONGEST_HEAD))

    def place(self) -> str:
        """Return the archive and the name inside."""
        return f"{self.name} in {self.archive}"


@dataclass(frozen=True)
class ZipImage(EncodedImage):
    """A file inside a zip archive, stored or deflated."""

    archive: Path
    name: str
    header: int  # where its local header starts; only that tells where the content does
    size: int  # as stored
    inflated: int  # as the archive states it; no more than that is inflated
    deflated: bool
    checksum: int  # CRC-32 of the content

    def read(self) -> bytes:
        """Return the file, checked against the archive's own checksum."""
        MAX_FILE.check(max(self.size, self.inflated), self.place())
        content = self._beginning(self.size, self.inflated + 1)
        if len(content) != self.inflated or zlib.crc32(content) != self.checksum:
            raise broken(self.archive, f"{self.name} does not match its checksum")
        return content

    def head(self) -> bytes:
        """Return how the file begins, without inflating the rest."""
        return self._beginning(min(self.size, HEAD_STORED), LONGEST_HEAD)

    def _beginning(self, stored_bytes: int, most: int) -> bytes:
        """Return at most so many bytes of the file, out of so many as they are stored."""
        signature, name, extra = LOCAL_HEADER.unpack(_part(self.archive, self.header, LOCAL_HEADER.size))
        if signature != b"PK\x03\x04":
            raise broken(self.archive, f"{self.name} does not match its checksum")
        stored = _part(self.archive, self.header + LOCAL_HEADER.size + name + extra, stored_bytes)
        try:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(stored, most) if self.deflated else stored[:most]
        except zlib.error as problem:
            raise broken(self.archive, f"{self.name}: {problem}") from problem

    def place(self) -> str:
        """Return the archive and the name inside."""
        return f"{self.name} in {self.archive}"


class Index(NamedTuple):
    """What an archive holds."""

    files: dict[str, EncodedImage]  # by name
    folders: set[str]  # that are listed by themselves; others show by the files in them


def index_zip(path: Path) -> Index:
    """Return the files and folders of a zip archive."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            everything = archive.infolist()
    except DAMAGE as problem:
        raise broken(path, str(problem)) from problem
    files: dict[str, EncodedImage] = {}
    for member in (member for member in everything if not member.is_dir()):
        if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataFileError(
                f"Expected files that are stored or deflated, got {member.filename} in {path}, encrypted or compressed "
                "in another way. Unpack the archive beside it."
            )
        name, deflated = member.filename, member.compress_type == zipfile.ZIP_DEFLATED
        sizes = member.compress_size, member.file_size
        files[name] = ZipImage(path, name, member.header_offset, *sizes, deflated, member.CRC)
    return Index(files, {member.filename.rstrip("/") for member in everything if member.is_dir()})


def index_tar(path: Path) -> Index:
    """Return the files and folders of a tar archive.

    A compressed tar can only be read from its beginning, so it is expanded once to NAME.tar beside it.
    """
    plain = _expanded(path) if path.name.lower().endswith(COMPRESSED) else path
    try:
        with open_regular(plain) as file, tarfile.open(fileobj=file, mode="r:") as archive:
            everything = list(archive)
            members = [member for member in everything if member.isfile()]
            if any(member.issparse() for member in members):
                raise EOFError("it has files with holes in them")
    except DAMAGE as problem:
        raise broken(plain, str(problem)) from problem
    if _part(plain, max(0, plain.stat().st_size - len(END_OF_TAR)), len(END_OF_TAR)) != END_OF_TAR:
        raise broken(plain, "it does not end as a tar archive does")
    images = (TarImage(plain, one.name.removeprefix("./"), one.offset_data, one.size) for one in members)
    folders = {one.name.removeprefix("./") for one in everything if one.isdir()} - {"."}
    return Index({image.name: image for image in images}, folders)


def broken(path: Path, problem: str) -> DataFileError:
    """Return the error for a file that is not whole."""
    return DataFileError(
        f"Expected a whole {path.suffix.removeprefix('.')} file, got one that is truncated or of another kind: {path} "
        f"({problem}). Download it again; `anacp datasets check` compares checksums where they are published."
    )


def _expanded(path: Path) -> Path:
    target = path.with_name(f"{path.name}.tar")
    if target.is_file() and target.stat().st_mtime >= path.stat().st_mtime:
        return target
    try:
        with open_regular(path) as file, replacing(target) as temporary, temporary.open("wb") as written:
            most, size = MAX_EXPANDED.for_growth(os.fstat(file.fileno()).st_size), 0
            with gzip.open(file) as source:
                while chunk := source.read(CHUNK):
                    size += len(chunk)
                    if size > most:
                        raise MAX_EXPANDED.exceeded("more", f"what {path} grows to", limit=most)
                    written.write(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        raise broken(path, str(problem)) from problem
    except OSError as problem:
        raise DataFileError(
            f"Expected to expand {path} beside itself, got: {problem}. Unpack the archive yourself, or copy it to a "
            "folder that can be written and has room."
        ) from problem
    return target


def _part(path: Path, start: int, size: int) -> bytes:
    try:
        with open_regular(path) as file:
            there = max(0, os.fstat(file.fileno()).st_size - start)
            if start < 0 or there < size:  # before so many bytes are asked for
                raise broken(path, f"{size} bytes expected at {start}, {there} there")
            file.seek(start)
            return file.read(size)
    except FileNotFoundError as problem:
        raise MissingDataError(f"Expected an archive at {path}, got none. Was it moved or deleted?") from problem
