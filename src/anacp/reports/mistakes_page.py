"""Wrong answers side by side on one page that needs nothing else: what each is, and what it was taken for."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from anacp.reports.page import STYLE
from anacp.version import __version__

# Examples that a page has at most, so that it opens at once.
MOST_SHOWN = 200
OWN_STYLE = """
.cards { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0; margin: 1rem 0 2rem; }
.cards li { width: 12rem; max-width: 100%; font-size: .8rem; overflow-wrap: anywhere; }
.cards img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); }
.cards blockquote { margin: 0 0 .3rem; padding: .4rem .6rem; background: var(--wash); }
.cards span { color: var(--faint); }
"""


@dataclass(frozen=True)
class Shown:
    """One example of the page."""

    name: str
    label: Any
    taken_for: Any
    probability: float
    own_probability: float
    picture: bytes | None = None  # JPEG; None for a text, which is its own name


def gallery(shown: Sequence[Shown], *, title: str, n_wrong: int) -> str:
    """Return the page: one section for each pair of classes, in the order given."""
    pairs = [(pair, list(cards)) for pair, cards in groupby(shown, lambda one: (one.label, one.taken_for))]
    sections = "".join(
        f'<section>\n<h2>{escape(str(label))} taken for {escape(str(other))}</h2>\n<ul class="cards">\n'
        f"{''.join(map(_card, cards))}</ul>\n</section>\n"
        for (label, other), cards in pairs
    )
    more = f"<p>The {len(shown):,} shown are of {n_wrong:,} that are wrong.</p>\n" if n_wrong > len(shown) else ""
    said = "<p>Pairs of classes with most mistakes first; within a pair, the most uncertain answers first.</p>\n"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}{OWN_STYLE}</style>\n</head>\n'
        f"<body>\n<header>\n<h1>{escape(title)}</h1>\n{said if shown else '<p>No mistakes.</p>'}{more}</header>\n"
        f"<main>\n{sections}</main>\n<footer>Written by anacp {escape(__version__)}.</footer>\n</body>\n</html>\n"
    )


def _card(one: Shown) -> str:
    name = escape(one.name)
    if one.picture is None:
        seen = f"<blockquote>{name}</blockquote>"
    else:
        source = base64.b64encode(one.picture).decode()
        seen = f'<img src="data:image/jpeg;base64,{source}" alt="{name}"><div>{name}</div>'
    answer = f"{escape(str(one.taken_for))} {one.probability:.2f}, {escape(str(one.label))} {one.own_probability:.2f}"
    return f"<li>{seen}<span>{answer}</span></li>\n"
