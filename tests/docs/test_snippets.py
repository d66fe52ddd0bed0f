"""Every Python snippet in the README and the docs runs, in order, and prints what the text says it prints."""

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from anacp.catalogue import METHODS
from anacp.learners import Learner

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LEARNERS = [entry.make for entry in METHODS.values() if entry.takes == "features" and not entry.parameters]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets(page: Path, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("snippet")
    monkeypatch.setitem(sys.modules, "snippet", module)  # what is pickled is looked up where it was defined
    printed = None
    for language, body in BLOCK.findall(page.read_text()):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(body, str(page), "exec"), module.__dict__)
            printed = output.getvalue()
        elif printed is not None:  # a text block right after a snippet is its output
            assert printed == body
            printed = None


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_docstring_examples(learner: type[Learner]) -> None:
    result = doctest.testmod(sys.modules[learner.__module__])
    assert result.attempted > 0
    assert result.failed == 0


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page}: {target}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_opens_with_what_it_says(page: Path) -> None:
    """Three lines of prose at least, before anything else."""
    title, _, rest = page.read_text().partition("\n\n")
    assert title.startswith("# ")
    assert "\n" not in title
    opening = rest.split("\n\n")[0].splitlines()
    assert len(opening) >= 3
    assert not any(line.startswith(("```", "|", "#", "-", "!")) for line in opening)


def test_every_picture_is_in_the_gallery() -> None:
    shown = re.findall(r"images/([\w.]+)\)", (ROOT / "docs" / "gallery.md").read_text())
    assert sorted(shown) == sorted(path.name for path in (ROOT / "docs" / "images").iterdir())
