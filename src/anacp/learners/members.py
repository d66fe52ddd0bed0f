"""The members of an averaged learner, in terms that need no torch: their parameters, and what is theirs by name."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

V = TypeVar("V")

# What no averaged learner lets anybody choose.
FIXED: Mapping[str, Any] = {
    "replay": "expected",
    "covariance": "shared",
    "classifier": "elm",
    "projection": "structured",
    "activation": "gelu",
    "normalize": True,
}


def member_parameters(parameters: Mapping[str, Any], member: int) -> dict[str, Any]:
    """Return the parameters of an AnaCP that is one of several: a seed of its own, targets in turn, all else alike."""
    common = {name: value for name, value in parameters.items() if name != "n_members"}
    if common["targets"] == "both":
        common["targets"] = ("reference", "paper")[member % 2]
    digest = hashlib.blake2b(f"{parameters['random_state']}/{prefix(member)}".encode(), digest_size=6).digest()
    return {**FIXED, **common, "random_state": int.from_bytes(digest, "big")}


def prefix(member: int) -> str:
    """Return what the names of a member's own parts begin with."""
    return f"member {member} "


class OwnParts(Mapping[str, V]):
    """What belongs to one member, by the names that it would have alone; the moments belong to all."""

    def __init__(self, everything: Mapping[str, V], member: int) -> None:
        self._everything, self._prefix = everything, prefix(member)
        self._member = member

    def __getitem__(self, name: str) -> V:
        return self._everything[name if name == "moments" else self._prefix + name]

    def __iter__(self) -> Iterator[str]:
        for name in self._everything:
            if name == "moments" or name.startswith(self._prefix):
                yield name.removeprefix(self._prefix)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def outlines(self) -> "OwnParts[V]":
        """The same without what is in them, where that is not read yet."""
        return OwnParts(getattr(self._everything, "outlines", self._everything), self._member)
