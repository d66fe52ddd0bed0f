"""Things that have names: found whatever their capitals, and a near miss is answered with the right one."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeVar

from anacp.errors import UnknownNameError

__all__ = ["Names", "nearest", "unknown_name"]

V = TypeVar("V")


class Names(dict[str, V]):
    """A dictionary with manners.

    Parameters
    ----------
    kind : str
        What its entries are, for messages.
    entries : dict, optional
        The first of them.
    aliases : dict, optional
        Other names, and what each stands for.
    besides : str, optional
        What else may be given where a name is asked for, for messages.
    """

    def __init__(
        self,
        kind: str,
        entries: dict[str, V] | None = None,
        *,
        aliases: dict[str, str] | None = None,
        besides: str = "",
    ) -> None:
        super().__init__(entries or {})
        self.kind = kind
        self.aliases = aliases or {}
        self.besides = besides

    def knows(self, name: str) -> bool:
        """Say whether something goes by a name."""
        return _folded(name) in self._meant()

    def spelled(self, name: str) -> str:
        """Return a name as it is registered, whatever its capitals, hyphens and blanks."""
        if self.knows(name):
            return self._meant()[_folded(name)]
        near = nearest(name, [*self, *self.aliases])
        hint = f"Did you mean {self.aliases.get(near, near)!r}? " if near else ""
        raise unknown_name(self.kind, name, self, besides=self.besides, hint=hint)

    def _meant(self) -> dict[str, str]:
        aliases = {_folded(alias): name for alias, name in self.aliases.items()}
        return aliases | {_folded(name): name for name in self}

    def find(self, name: str) -> V:
        """Return what goes by a name."""
        return self[self.spelled(name)]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant."""
    by_folded = {_folded(one): one for one in known}
    near = get_close_matches(_folded(name), by_folded, n=1)
    return by_folded[near[0]] if near else None


def unknown_name(kind: str, name: str, known: Iterable[str], *, besides: str = "", hint: str = "") -> UnknownNameError:
    """Return the error for a name that nothing goes by; `hint` replaces the nearest name."""
    names = sorted(known)
    near = nearest(name, names)
    hint = hint or (f"Did you mean {near!r}? " if near else "")
    listed = ", ".join([*names, *([besides] if besides else [])])
    return UnknownNameError(f"Unknown {kind} {name!r}. {hint}Known: {listed}.")


def _folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
