"""A report as one HTML file that needs nothing else: no script, no font, no picture from elsewhere."""

import base64
from html import escape

from anacp.reports.contents import Block, Contents, Section
from anacp.reports.pictures import Absent, Picture
from anacp.reports.provenance import Listing
from anacp.reports.tables.table import Table
from anacp.reports.tables.to_html import to_html
from anacp.version import __version__

STYLE = """
:root { color-scheme: light; --ink: #1d2129; --faint: #5b6270; --line: #d5d9e0; --wash: #f5f6f8; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; }
main, header, nav, footer { max-width: 78rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 3rem 0 .75rem; padding-top: .75rem; border-top: 2px solid var(--ink); }
p { max-width: 46rem; overflow-wrap: anywhere; }
a { color: var(--accent); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 1rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
nav ul { list-style: none; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
.notice { border-left: 4px solid #d55e00; background: #fdf3ec; padding: .6rem 1rem; margin: 0 0 1rem; }
.notice p { margin: .2rem 0; }
.absent { color: var(--faint); font-style: italic; margin: .5rem 0; }
figure { margin: 1.5rem 0 2rem; }
figcaption { color: var(--faint); font-size: .875rem; max-width: 46rem; margin-bottom: .5rem; overflow-wrap: anywhere; }
figure.picture figcaption { margin: .5rem 0 0; }
figure.picture img { display: block; width: auto; max-width: 100%; height: auto; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid var(--ink); font-weight: 600; }
thead th.group { border-bottom: 1px solid var(--line); text-align: center; max-width: 16rem; }
tbody th { font-weight: 400; position: sticky; left: 0; background: #fff; }
tr.summary > * { background: var(--wash); }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody tr.rule > * { border-top: 1px solid var(--ink); }
tr.bound { color: var(--faint); }
.number { text-align: right; white-space: nowrap; }
.start { border-left: 1px solid var(--line); }
td:not(.number) { max-width: 22rem; overflow-wrap: break-word; }
td.wide { min-width: 20rem; max-width: none; }
table.dense { font-size: .8rem; } .dense th, .dense td { padding: .25rem .3rem; }
.dense .number { white-space: normal; } .dense .deviation { display: block; white-space: nowrap; }
.deviation { color: var(--faint); font-size: .8em; }
u { text-underline-offset: .15em; }
details { border: 1px solid var(--line); border-radius: 4px; padding: .4rem .8rem; margin: .5rem 0; }
details { font-size: .875rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
details ul { padding-left: 1.1rem; overflow-wrap: anywhere; }
footer { color: var(--faint); font-size: .875rem; padding-top: 2rem; padding-bottom: 3rem; }
@media (max-width: 30rem) {
  dl { grid-template-columns: 1fr; } dt { margin-top: .4rem; }
  th, td { padding: .3rem .4rem; } figure.picture img { min-width: 34rem; }
}
@media print {
  @page { size: A4; margin: 15mm; }
  body { font-size: 10pt; } nav { display: none; }
  h2, figure.table figcaption { break-after: avoid; } h2 { margin-top: 1.5rem; } figure.picture { break-inside: avoid; }
  figcaption { font-size: 9pt; } details { font-size: 8pt; }
  .scroll { overflow: visible; } table { font-size: 7pt; } th, td { padding: 1.5pt 3pt; }
  td, tbody th { min-width: 0; position: static; }
  thead { display: table-header-group; } tr { break-inside: avoid; }
  details::details-content { content-visibility: visible; }
}
"""


def page(contents: Contents) -> str:
    """Return the whole page."""
    title = escape(contents.title)
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n" for name, value in contents.facts)
    links = "".join(f'<li><a href="#{section.id}">{escape(section.title)}</a></li>\n' for section in contents.sections)
    notices = "".join(f"<p>{escape(notice)}</p>\n" for notice in contents.notices)
    warning = f'<div class="notice" id="substitutes" role="note">\n{notices}</div>\n' if notices else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}</style>\n</head>\n<body>\n'
        f"<header>\n<h1>{title}</h1>\n{warning}<dl>\n{facts}</dl>\n</header>\n"
        f'<nav aria-label="Contents">\n<ul>\n{links}</ul>\n</nav>\n'
        f"<main>\n{''.join(map(_section, contents.sections))}</main>\n"
        f"<footer>Written by anacp {escape(__version__)} from finished runs; nothing was run for it.</footer>\n"
        "</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    blocks = "".join(map(_block, section.blocks))
    return f'<section id="{section.id}">\n<h2>{escape(section.title)}</h2>\n{blocks}</section>\n'


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return to_html(block)
    if isinstance(block, Picture):
        source = base64.b64encode(block.svg).decode()
        return (
            f'<figure id="{escape(block.id)}" class="picture">\n'
            f'<div class="scroll" tabindex="0"><img src="data:image/svg+xml;base64,{source}" '
            f'alt="{escape(block.alt)}"></div>\n'
            f"<figcaption>{escape(block.caption)}</figcaption>\n</figure>\n"
        )
    if isinstance(block, Absent):
        return f'<p class="absent" id="{escape(block.id)}">{escape(block.reason)}</p>\n'
    if isinstance(block, Listing):
        lines = "".join(f"<li>{escape(line)}</li>\n" for line in block.lines)
        return f"<details>\n<summary>{escape(block.summary)}</summary>\n<ul>\n{lines}</ul>\n</details>\n"
    return f"<p>{escape(block)}</p>\n"
