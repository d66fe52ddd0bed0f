"""The page of mistakes: the worst pairs first, whole in a real browser."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from anacp.evaluation import mistakes
from anacp.items import thumbnail
from anacp.reports import Shown, gallery
from tests.methods.inputs import picture
from tests.reports.test_browser import CHROMIUM, FRAME, MEASURE, browse


def test_the_worst_pairs_come_first_and_the_most_uncertain_within() -> None:
    classes = np.array(["a", "b", "c"])
    labels = ["a", "a", "b", "c", "c"]
    chances = np.array([[0.1, 0.9, 0], [0.4, 0.6, 0], [0, 1, 0], [0.7, 0, 0.3], [0.2, 0.2, 0.6]])
    found = mistakes(labels, classes, chances)
    assert [(one.position, one.label, one.taken_for) for one in found] == [(1, "a", "b"), (0, "a", "b"), (3, "c", "a")]
    assert found[0].margin == pytest.approx(0.2)
    assert mistakes(["b"], classes, chances[2:3]) == []


def shown() -> list[Shown]:
    pictures = [
        Shown(f"photos/{n}.jpg", "red", "blue <b>", 0.6, 0.4, thumbnail(picture("red", n).resize((900, 700))))
        for n in range(9)
    ]
    return [*pictures, Shown("a text <script>console.error(1)</script> " + "x" * 300, "money", "weather", 0.5, 0.4)]


def test_names_are_shown_and_never_obeyed() -> None:
    page = gallery(shown(), title="my.anacp: 10 mistakes", n_wrong=12)
    assert "<script" not in page
    assert "http" not in page
    assert "red taken for blue &lt;b&gt;" in page
    assert "The 10 shown are of 12" in page
    assert "No mistakes." in gallery([], title="none", n_wrong=0)


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (Debian: apt-get install chromium)")
@pytest.mark.parametrize("width", [390, 1280], ids=["phone", "desktop"])
def test_in_a_browser(width: int, tmp_path: Path) -> None:
    page = gallery(shown(), title="my.anacp: 10 mistakes", n_wrong=12)
    (tmp_path / "measured.html").write_text(page.replace("</body>", f"{MEASURE}</body>"))
    (tmp_path / "frame.html").write_text(FRAME.format(width=width))
    dom, said = browse(tmp_path / "frame.html", tmp_path / "profile")
    found = re.search(r'<pre id="measured">(.*?)</pre>', dom)
    assert found is not None
    assert said == []
    facts = json.loads(unescape(found.group(1)))
    assert facts["page"] <= width
    assert facts["wide"] == []
    assert len(facts["images"]) == 9
    assert all(complete and natural > 0 and wide > 100 for complete, natural, wide, _ in facts["images"])
