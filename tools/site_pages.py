"""Pages of the site that lie outside docs/, the reference by docstrings, and links that lead to where these are."""

import logging
import os
import re
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

LOG = logging.getLogger("mkdocs.hooks.site_pages")
ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "src/anacp/samples/README.md": "samples.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)|!\[([^\]]*)\]\(([^)\s]+)\)")
# What people import, by where it is written.
REFERENCE = {
    "Photos and texts": ["methods.classifier.Classifier", "methods.predictor.Predictor", "methods.answers.Answers"],
    "Learners": [
        *("learners.anacp.AnaCP", "learners.ncm.NCM", "learners.slda.SLDA", "learners.klda.KLDA"),
        *("learners.gacl.GACL", "learners.fecam.FeCAM", "learners.ranpac.RanPAC", "learners.loranpac.LoRanPAC"),
        *("learners.elm.ELM", "learners.ridge.Ridge", "learners.linear_probe.LinearProbe"),
    ],
    "Files": ["methods.loading.load", "exports.exporting.export", "methods.hub.HubClassifier"],
    "Features": ["backbones.loading.backbone", "encoders.encoder.Encoder", "samples.load.load_sample"],
    "A learner of your own": ["testing.check.check_learner"],
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that docs/ does not have."""
    for place, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / place).read_text()))
    sections = (
        f"## {title}\n\n" + "\n".join(f"::: anacp.{name}\n" for name in names) for title, names in REFERENCE.items()
    )
    files.append(File.generated(config, "reference.md", content="# Reference\n\n" + "\n".join(sections)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links of the repository into links of the site; what the site does not have keeps its words."""
    own = page.file.src_uri
    source = next((place for place, name in OUTSIDE.items() if name == own), f"docs/{own}")

    def turned(match: re.Match[str]) -> str:
        words, target, anchor, shown, picture = match.groups()
        found = target if picture is None else picture
        if not found or "://" in found or found.startswith("mailto:"):
            return match[0]
        place = normpath(os.path.join(dirname(source), found))
        if not (ROOT / place).exists():
            LOG.warning("%s: a link leads nowhere: %s", source, found)  # an error for --strict
            return match[0]
        if place not in OUTSIDE and not place.startswith("docs/"):
            return words if picture is None else ""
        led = relpath(OUTSIDE.get(place, place.removeprefix("docs/")), dirname(own) or ".")
        return f"![{shown}]({led})" if picture is not None else f"[{words}]({led}{anchor or ''})"

    return LINK.sub(turned, markdown)
