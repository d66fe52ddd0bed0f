"""The one door to the disk: whole or not at all, one writer at a time, tensors by digest, and nothing too large."""

from typing import TYPE_CHECKING

from anacp.doors import door
from anacp.files.atomic import locked, new_folder, remove_folder, replacing, sweep_leftovers
from anacp.files.disk import advice
from anacp.files.documents import parse_json, read_json, read_toml
from anacp.files.facts import Fact, Record
from anacp.files.folders import home
from anacp.files.kinds import FileKind
from anacp.files.limits import LIMITS, MAX_EXPANDED, MAX_FILE, MAX_PIXELS, MAX_TABLE, Limit
from anacp.files.regular import open_regular, read_regular

if TYPE_CHECKING:
    from anacp.files.arrays import read_arrays
    from anacp.files.tensors import TensorFile, write_tensors

__all__ = [
    "LIMITS",
    "MAX_EXPANDED",
    "MAX_FILE",
    "MAX_PIXELS",
    "MAX_TABLE",
    "Fact",
    "FileKind",
    "Limit",
    "Record",
    "TensorFile",
    "advice",
    "home",
    "locked",
    "new_folder",
    "open_regular",
    "parse_json",
    "read_arrays",
    "read_json",
    "read_regular",
    "read_toml",
    "remove_folder",
    "replacing",
    "sweep_leftovers",
    "write_tensors",
]

__getattr__ = door(__name__)
