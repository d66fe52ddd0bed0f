"""The page: well formed, complete, and in need of nothing else."""

import base64
import csv
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anacp.errors import UnknownNameError
from anacp.reports import markdown, report
from tests.reports.folders import SUBSTITUTE, write_collection, write_embedding, write_json, write_run

VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """Notes tags, ids, pictures and addresses, and fails where tags do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]
        if tag == "img":
            self.images.append(found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    write_collection(root / "runs", substitute=SUBSTITUTE, specification={"table": "table1"})
    write_embedding(root / "runs" / "AnaCP-seed0")
    write_collection(
        root / "ablation", {"1": 85.0, "6": 90.0, "without FSA": 91.0}, specification={"table": "ablation"}
    )
    return root


@pytest.fixture(scope="module")
def written(everything: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    output = tmp_path_factory.mktemp("out") / "report.html"
    return report(everything, output, title="A trial", formats=("html", "md", "tex", "csv"))


def test_the_page_is_whole(written: list[Path]) -> None:
    text = written[0].read_text()
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert {
        "substitutes", "table1", "table1-curves-1", "table1-forgetting-1", "table1-forgotten-1", "table1-matrices-1",
        "table1-matrix-1", "table1-efficiency-1", "table1-cost-1", "table1-features-1", "table1-confused-1", "ablation",
        "data-sets", "backbones", "runs",
    } <= set(page.ids)  # fmt: skip
    assert "script" not in page.tags
    assert "absent" not in re.findall(r'class="(\w+)"', text)
    local = [address for address in page.addresses if address.startswith("#")]
    assert {address[1:] for address in local} <= set(page.ids)
    assert all(address.startswith("data:") for address in set(page.addresses) - set(local))
    assert not re.search(r"url\(|@import|https?://", text)
    assert "<title>A trial</title>" in text


def test_every_figure_is_described_and_drawn(written: list[Path]) -> None:
    images = Page(written[0].read_text()).images
    assert len(images) == 6
    for image in images:
        assert len(image["alt"] or "") > 40
        svg = ElementTree.fromstring(base64.b64decode((image["src"] or "").removeprefix("data:image/svg+xml;base64,")))
        assert len(list(svg.iter())) > 50


def test_a_substitute_is_labelled_at_the_top_and_in_every_caption_of_its_numbers(written: list[Path]) -> None:
    text = written[0].read_text()
    label = "Substitute for Table 1: DINO-v2 on CIFAR100: minilm-l6 on clinc150 instead."
    assert text.index(label) < text.index("<dl>")
    captions = re.findall(r'<figure id="(table1[^"]*)".*?<figcaption[^>]*>(.*?)</figcaption>', text, re.DOTALL)
    assert len(captions) == 10
    assert all(caption.startswith(label) for _, caption in captions)


def test_other_formats(written: list[Path]) -> None:
    names = [path.name for path in written]
    assert names[:3] == ["report.html", "report.md", "report.tex"]
    assert {"report-table1.csv", "report-ablation.csv", "report-runs.csv"} <= set(names)
    lines = written[1].read_text().splitlines()
    assert lines[0] == "# A trial"
    assert lines[2].startswith("**Substitute for Table 1")
    assert "## Features and confusions" not in lines  # figures alone
    assert any(line.startswith("| AnaCP | **92.00** ± 0.08 |") for line in lines)
    latex = written[2].read_text()
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == len(names) - 3
    with written[names.index("report-runs.csv")].open() as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 27
    assert float(runs[0]["A_last"]) > 80


def test_hostile_names(tmp_path) -> None:
    evil = '<script>alert("1")</script>'
    dataset = {"name": evil, "title": evil, "n_train": 1, "n_test": 1, "n_classes": 2, "licence": evil}
    changes = {
        "dataset": dataset,
        "confused": [[evil, "$x_{$", 1, 2], ["名前", "b", 1, 2]],
        "substitute": {"for": evil, "note": evil},
    }
    protocol = {"scenario": evil, "n_tasks": 4, "classes": [evil, "&"]}
    write_run(tmp_path / "run", title=evil, protocol=protocol, adaptation=evil, **changes)
    write_json(tmp_path / "run" / "environment.json", {evil: evil})
    page = Page(report(tmp_path, tmp_path / "out.html", title=evil)[0].read_text())
    assert "script" not in page.tags


def test_what_is_absent_says_why(tmp_path) -> None:
    write_run(tmp_path / "run", "Joint linear probe", confused=[])
    text = report(tmp_path, tmp_path / "out.html")[0].read_text()
    reasons = re.findall(r'<p class="absent"[^>]*>(.*?)</p>', text)
    assert [reason.partition(": ")[2] for reason in reasons] == [
        "no accuracy over tasks, since no run has two tasks.",
        "no picture of the features, since no run has an embedding.json.",
        "no confused pairs, since none were recorded.",
    ]


def test_the_same_runs_give_the_same_bytes(everything: Path, written: list[Path], tmp_path) -> None:
    assert report(everything, tmp_path / "again.html", title="A trial")[0].read_bytes() == written[0].read_bytes()


def test_markdown_alone_draws_nothing(everything: Path) -> None:
    text = markdown(everything, title="Results")
    assert text.startswith("# Results\n")
    assert "| Rel. error | 19.2 % ↓ |" in text


def test_formats_are_checked_before_anything_is_written(everything: Path, tmp_path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'html'"):
        report(everything, tmp_path / "out.html", formats=("htm",))
    assert list(tmp_path.iterdir()) == []


def test_an_ablation_alone(tmp_path) -> None:
    write_collection(tmp_path / "runs", {"1": 85.0, "without FSA": 91.0})
    page = Page(report(tmp_path, tmp_path / "out.html")[0].read_text())
    assert {"ablation", "runs"} <= set(page.ids)
    assert page.images == []
