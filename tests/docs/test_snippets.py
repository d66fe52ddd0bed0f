"""Every Python snippet in the README and the docs runs, in order, and prints what the text says it prints."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

import anacp.learners.anacp

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets(page: Path, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "snippet"}
    printed = None
    for language, body in BLOCK.findall(page.read_text()):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(body, str(page), "exec"), namespace)
            printed = output.getvalue()
        elif printed is not None:  # a text block right after a snippet is its output
            assert printed == body
            printed = None


def test_docstring_examples() -> None:
    result = doctest.testmod(anacp.learners.anacp)
    assert result.attempted > 0
    assert result.failed == 0


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page}: {target}"
