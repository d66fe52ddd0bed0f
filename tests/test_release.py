"""What a release needs says the same everywhere: versions of Python, extras, pages of the site, what is published."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from anacp.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def stated(path: str) -> dict[Any, Any]:
    return yaml.safe_load((ROOT / path).read_text())


def test_every_python_that_is_promised_is_tested() -> None:
    promised = re.findall(r"Python :: (3\.\d+)'", str(PROJECT["classifiers"]))
    assert stated(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"


def test_publishing_needs_no_secret() -> None:
    publish = stated(".github/workflows/publish.yml")
    assert publish["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert publish["permissions"] == {"contents": "read"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "publish.yml").read_text()


@pytest.mark.parametrize("workflow", ["test.yml", "publish.yml"])
def test_what_workflows_make_can_be_made(workflow: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = re.findall(r"run: make (\w+)", (ROOT / ".github" / "workflows" / workflow).read_text())
    assert used
    assert set(used) <= targets


def test_forms_for_issues_are_whole() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) == 4
    for form in forms:
        said = yaml.safe_load(form.read_text())
        if form.name != "config.yml":
            assert {"name", "description", "labels", "body"} == said.keys()
            assert all({"type", "id", "attributes"} <= part.keys() for part in said["body"])


def test_hooks_before_a_commit_are_those_of_lint() -> None:
    lint = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
    hooks = [hook["entry"] for repo in stated(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert [" ".join(hook.replace(" --fix", "").split()[:2]) for hook in hooks] == [
        " ".join(part for part in line.split() if part not in (".", "--check")) for line in lint.split("\n\t")[1:]
    ]


def test_the_container_installs_extras_that_exist_and_is_nobody_in_particular() -> None:
    lines = (ROOT / "Containerfile").read_text()
    (extras,) = re.findall(r"/source\[([\w,]+)\]", lines)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()
    assert re.search(r"^USER \d+$", lines, re.MULTILINE)
    assert ":latest" not in lines


def test_extras_are_named_where_they_are_told() -> None:
    """Every extra that an error or a page tells people to install is one."""
    places = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    told = {
        name
        for place in places
        for names in re.findall(r"(?:anacp|\.)\[([a-z,]+)\]", place.read_text())
        for name in names.split(",")
    }
    told |= {name for place in places for name in re.findall(r'(?<!ConfigDict\()extra="(\w+)"', place.read_text())}
    assert told
    assert told <= PROJECT["optional-dependencies"].keys()


def test_one_version() -> None:
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_pages_of_the_site_exist() -> None:
    config = (ROOT / "mkdocs.yml").read_text()
    nav = yaml.safe_load(config[config.index("nav:") :].replace("validation:", ""))["nav"]
    pages = re.findall(r"'([\w/-]+\.md)'", str(nav))
    made = re.findall(r'"([\w/-]+\.md)"', (ROOT / "tools" / "site_pages.py").read_text())
    assert len(pages) > 20
    assert all((ROOT / "docs" / page).is_file() or page in made for page in pages)
    listed = {page for page in pages if not page.startswith("methods/")}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} <= listed
