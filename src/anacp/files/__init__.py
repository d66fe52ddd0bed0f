"""The one door to the disk: files that appear whole or not at all, one writer at a time, tensors checked by digest."""

from anacp.files.atomic import replacing, sweep_leftovers
from anacp.files.facts import Fact, Record
from anacp.files.folders import home
from anacp.files.locks import locked
from anacp.files.tensors import FileKind, TensorFile, write_tensors

__all__ = [
    "Fact",
    "FileKind",
    "Record",
    "TensorFile",
    "home",
    "locked",
    "replacing",
    "sweep_leftovers",
    "write_tensors",
]
