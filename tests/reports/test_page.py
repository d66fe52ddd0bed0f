"""The page: well formed, complete, and in need of nothing else."""

import base64
import csv
import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anacp.errors import UnknownNameError
from anacp.experiments import ScenarioSettings, Specification
from anacp.paper import Cell
from anacp.reports import markdown, report
from tests.reports.made import FOUR, change, make, of_table1, plain, write_features

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
def everything(table1: Path, ablation: Path) -> list[Path]:
    return [table1, ablation]


@pytest.fixture(scope="module")
def written(everything: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    output = tmp_path_factory.mktemp("out") / "report.html"
    return report(everything, output, title="A trial", formats=("html", "md", "tex", "csv"))


def headings(text: str) -> list[str]:
    return [unescape(found) for found in re.findall(r"<h[12]>(.*?)</h[12]>", text)]


def test_the_page_is_whole(written: list[Path]) -> None:
    text = written[0].read_text()
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert {
        "substitutes", "table1", "table1-curves-1", "table1-forgetting-1", "table1-forgotten-1", "table1-matrices-1",
        "table1-matrix-1", "table1-efficiency-1", "table1-cost-1", "table1-features-1", "table1-confused-1",
        "table1-parameters", "ablation", "ablation-parameters", "data-sets", "backbones", "runs",
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
    label = "Substitute for Table 1: DINO-v2 on CIFAR100: blobs instead."
    assert text.index(f"{label} No DINO-v2 weights here.") < text.index("<dl>")
    captions = re.findall(r'<figure id="(table1[^"]*)".*?<figcaption[^>]*>(.*?)</figcaption>', text, re.DOTALL)
    assert len(captions) == 11
    assert all(caption.startswith(label) for _, caption in captions)


def test_other_formats(written: list[Path]) -> None:
    names = [path.name for path in written]
    assert names[:3] == ["report.html", "report.md", "report.tex"]
    assert {"report-table1.csv", "report-ablation.csv", "report-runs.csv"} <= set(names)
    lines = written[1].read_text().splitlines()
    assert lines[0] == "# A trial"
    assert lines[2].startswith("**Substitute for Table 1")
    assert "## Features and confusions" not in lines  # figures alone
    assert any(re.match(r"\| AnaCP \| (\*\*|<u>)?\d\d\.\d\d", line) for line in lines)
    latex = written[2].read_text()
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == len(names) - 3
    with written[names.index("report-runs.csv")].open() as file:
        runs = list(csv.DictReader(file))
    assert len(runs) == 23
    assert all(0 < float(run["A_last"]) <= 100 for run in runs)


def test_headings_name_what_was_run_and_say_quick_where_it_was(
    table1: Path, ablation: Path, features: str, tmp_path: Path
) -> None:
    first, second, *_ = headings(report(table1, tmp_path / "out.html")[0].read_text())
    assert (first, second) == ("Table 1 on blobs", "A substitute for the paper’s Table 1, on blobs")
    text = report(ablation, tmp_path / "out.html")[0].read_text()
    first, second, *_ = headings(text)
    assert Page(text).images == []
    assert first == "Table 3 (ablation) on blobs, quick"
    assert second == "A substitute for the paper’s Table 3 (ablation), on blobs, quick"
    captions = re.findall(r'<figure id="ablation.*?<figcaption[^>]*>(.*?)</figcaption>', text, re.DOTALL)
    assert captions
    assert all("Quick: " in caption for caption in captions)
    make(tmp_path / "plain", plain(features, ["NCM"], title="3", substitute={"for": "Table 1", "note": "Table 2"}))
    assert headings(report(tmp_path / "plain", tmp_path / "out.html")[0].read_text())[:2] == [
        "Results on blobs", "Results",
    ]  # fmt: skip


def test_the_papers_table_is_headed_as_such_with_what_was_run(tmp_path: Path) -> None:
    ten = ScenarioSettings(tasks=10)
    make(tmp_path / "runs", [
        Specification("sample:clinc150", "NCM", title="SimpleCIL", scenario=ten, paper=Cell("table1", "SimpleCIL")),
        Specification("sample:cifar100", "NCM", title="SimpleCIL", scenario=ten, paper=Cell("table1", "SimpleCIL")),
    ])  # fmt: skip
    run_on = "with EfficientNet-Lite0 on the CIFAR-100 sample and MiniLM on the CLINC150 sample"
    text = report(tmp_path / "runs", tmp_path / "out.html")[0].read_text()
    assert headings(text)[:2] == [f"Table 1 {run_on}", f"The paper’s Table 1, {run_on}"]
    assert "DINO" not in text.partition("Numbers of the paper")[0]


EVIL = '<script>alert("1")</script>'


def test_hostile_names(tmp_path: Path) -> None:
    data = write_features(tmp_path / "<i>&.npz", names=[EVIL, "$x_{$", "名前", "&", "a|b"])
    words = {"for": EVIL, "note": EVIL}
    make(tmp_path / "runs", [
        Specification(data, "NCM", title=EVIL, scenario=FOUR, substitute=words),
        Specification(data, "SLDA", title="$\\frac{", scenario=FOUR, substitute=words),
    ])  # fmt: skip
    written = report(tmp_path / "runs", tmp_path / "out.html", title=EVIL, formats=("html", "md", "tex", "csv"))
    page = Page(written[0].read_text())
    assert "script" not in page.tags
    assert "i" not in page.tags
    assert "<script" not in written[1].read_text()


def test_what_is_absent_says_why(features: str, tmp_path: Path) -> None:
    make(tmp_path, of_table1(features, ["Joint linear probe"], seeds=1))
    change(tmp_path / "blobs" / "Joint-linear-probe-seed0", confused=[])  # as of a model that confuses nothing
    text = report(tmp_path, tmp_path / "out.html")[0].read_text()
    reasons = re.findall(r'<p class="absent"[^>]*>(.*?)</p>', text)
    assert [reason.partition(": ")[2] for reason in reasons] == [
        "no accuracy over tasks, since no run has two tasks.",
        "no picture of the features, since no run has an embedding.json.",
        "no confused pairs, since none were recorded.",
    ]


def test_the_same_runs_give_the_same_bytes(everything: list[Path], written: list[Path], tmp_path: Path) -> None:
    assert report(everything, tmp_path / "again.html", title="A trial")[0].read_bytes() == written[0].read_bytes()


def test_markdown_alone_draws_nothing(everything: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    text = markdown(everything, title="Results")
    assert text.startswith("# Results\n")
    assert "| Rel. error |" in text


def test_formats_are_checked_before_anything_is_written(everything: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'html'"):
        report(everything, tmp_path / "out.html", formats=("htm",))
    assert list(tmp_path.iterdir()) == []
