"""What the page is made of: files of its own, nothing from elsewhere, nothing that turns text into markup."""

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "src" / "anacp" / "serve" / "page"
FILES = sorted(PAGE.iterdir())
MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|javascript:")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_comes_from_elsewhere_and_no_text_becomes_markup(file: Path) -> None:
    text = file.read_text()
    addresses = re.findall(r"(?:https?:)?//[\w-]+\.[\w.]+[^\s\"']*", re.sub(r"(?m)(^|\s)// .*$", "", text))
    assert [one for one in addresses if one != "http://www.w3.org/2000/svg"] == []
    assert MARKUP.findall(text) == []


def test_markup_has_neither_script_nor_style_of_its_own() -> None:
    text = (PAGE / "index.html").read_text()
    assert re.findall(r"<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=", text) == []


def test_every_file_that_is_named_is_there_and_installed() -> None:
    named = set(re.findall(r"page/([\w.]+)", (PAGE / "index.html").read_text()))
    for file in PAGE.glob("*.js"):
        named |= set(re.findall(r'from "\./([\w.]+)"', file.read_text()))
    assert named | {"index.html"} == {file.name for file in FILES}
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["anacp"]
    for file in FILES:
        assert any(fnmatch.fnmatch(f"serve/page/{file.name}", pattern) for pattern in patterns), file.name
