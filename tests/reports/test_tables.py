"""Tables of real runs, and the four ways of writing one."""

import csv
import io
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from anacp.experiments import load_runs
from anacp.reports import collect, report
from anacp.reports.collection import Comparison, mean_of
from anacp.reports.tables.ablation import ablation_table
from anacp.reports.tables.details import parameters_table
from anacp.reports.tables.results import relative_error, results_table
from anacp.reports.tables.table import Table, TableCell, TableColumn, TableRow, measured, rank, seconds
from anacp.reports.tables.to_html import to_html
from anacp.reports.tables.to_latex import to_latex
from anacp.reports.tables.to_text import to_csv, to_markdown
from tests.reports.made import change, make, of_table1, plain, write_features


def only(path: Path) -> Comparison:
    (comparison,) = collect([path]).comparisons
    return comparison


def marks(*values: float | None, competing: list[bool] | None = None) -> list[str]:
    cells = [measured(None if value is None else mean_of([value])) for value in values]
    return [cell.mark for cell in rank(cells, competing or [True] * len(values))]


def cells_of(table: Table, title: str) -> list[TableCell]:
    return next(list(row.cells) for row in table.rows if row.cells[0].text == title)


def accuracies(folder: Path, title: str, metric: str = "A_last") -> list[float]:
    return [run.metrics[metric] or 0.0 for run in load_runs(folder) if run.title == title]


def test_mean_of_seeds() -> None:
    found = mean_of([90.0, None, 92.0])
    assert found is not None
    assert (found.value, found.deviation, found.n) == (91.0, 1.0, 2)
    assert mean_of([None]) is None
    assert measured(mean_of([90.0])).deviation is None  # one seed has no spread
    assert measured(found).deviation == 1.0


def test_best_and_second() -> None:
    assert marks(90, 92, 91) == ["", "best", "second"]
    assert marks(92.001, 92.004, 91) == ["best", "best", "second"]  # equal as printed
    assert marks(91, 92, 91.0) == ["second", "best", "second"]
    assert marks(99, 92, 91, competing=[False, True, True]) == ["", "best", "second"]
    assert marks(None, 92, None, 91) == ["", "best", "", "second"]
    assert marks(92) == [""]  # nothing to compare with


def test_relative_error() -> None:
    assert relative_error(95.43, 94.10) == pytest.approx(22.54, abs=0.01)  # Table 1, CIFAR100
    assert relative_error(80, 90) == pytest.approx(-100)
    assert relative_error(100, 100) is None


def test_results_of_a_table(table1: Path) -> None:
    table = results_table(only(table1))
    assert [row.cells[0].text for row in table.rows] == [
        "Joint linear probe", "SimpleCIL", "SLDA", "RanPAC", "AnaCP - Σ_y", "AnaCP", "Rel. error",
    ]  # fmt: skip
    assert [row.kind for row in table.rows] == ["bound", "", "", "", "other", "other", "summary"]
    for row in table.rows[:-1]:
        values = accuracies(table1, row.cells[0].text)
        assert row.cells[1].value == pytest.approx(np.mean(values))
        assert row.cells[1].deviation == pytest.approx(np.std(values))
    ranked = {title: float(np.mean(accuracies(table1, title))) for title in ("SimpleCIL", "SLDA", "RanPAC", "AnaCP")}
    best, *_ = sorted(ranked.values(), reverse=True)
    assert {title for title in ranked if cells_of(table, title)[1].mark == "best"} == {
        title for title, value in ranked.items() if round(value, 2) == round(best, 2)
    }
    assert cells_of(table, "Joint linear probe")[1].mark == cells_of(table, "AnaCP - Σ_y")[1].mark == ""
    assert cells_of(table, "Joint linear probe")[2] == TableCell()  # A_avg of a joint run
    others = max(value for title, value in ranked.items() if title != "AnaCP")
    assert cells_of(table, "Rel. error")[1].value == pytest.approx(relative_error(ranked["AnaCP"], others))


def test_one_method_one_seed(features: str, tmp_path: Path) -> None:
    """Nothing to rank, no spread, and no error that the paper's method saves."""
    make(tmp_path, plain(features, ["NCM"]))
    table = results_table(only(tmp_path))
    (run,) = load_runs(tmp_path)
    shown = [f"{run.metrics[metric]:.2f}" for metric in ("A_last", "A_avg")]
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["NCM", *shown]]
    assert table.rows[0].cells[1].mark == ""
    assert "one seed" in table.caption
    assert "Substitute" not in table.caption
    assert "Quick" not in table.caption


def test_missing_cells(features: str, tmp_path: Path) -> None:
    other = write_features(tmp_path / "other.npz", seed=1)
    make(tmp_path / "runs", [*plain(features), *plain(other, ["SLDA"])])
    table = results_table(only(tmp_path))
    assert [column.group for column in table.columns[1::2]] == ["blobs", "other"]
    assert cells_of(table, "NCM")[3] == TableCell()
    assert cells_of(table, "SLDA")[3].value == accuracies(tmp_path / "runs" / "other", "SLDA")[0]


def test_the_papers_numbers_stand_beside_ours_under_their_own_heading(table1: Path) -> None:
    table = results_table(only(table1))
    assert [column.group for column in table.columns[1::2]] == ["blobs", "paper: DINO-v2 on CIFAR100"]
    assert (cells_of(table, "AnaCP")[3].value, cells_of(table, "AnaCP")[3].deviation) == (92.15, 0.09)
    assert cells_of(table, "SimpleCIL")[3].value == 86.2
    assert cells_of(table, "Joint linear probe")[4] == TableCell()
    assert cells_of(table, "Rel. error")[3].text == "20.7 % ↓"


def test_the_papers_numbers_stand_where_we_have_none(features: str, tmp_path: Path) -> None:
    other = write_features(tmp_path / "other.npz", seed=1)
    first = of_table1(features, ["SLDA"], seeds=1)
    make(tmp_path / "runs", [*first, *of_table1(other, ["SimpleCIL"], seeds=1, column="CUB")])
    cells = cells_of(results_table(only(tmp_path)), "SimpleCIL")
    assert [cell.text for cell in cells[1:5]] == ["–", "–", "86.20", "91.18"]


def test_without_a_column_no_number_is_the_papers(features: str, tmp_path: Path) -> None:
    make(tmp_path, of_table1(features, ["SLDA"], seeds=1, column=None))
    table = results_table(only(tmp_path))
    assert len(table.columns) == 3
    assert "paper" not in table.caption.replace("in the paper", "")


def test_times_too_short_to_matter_are_not_shown() -> None:
    assert [seconds(value).text for value in (0.0, 9e-4, 4.4e-3, 1.26, 1234.5)] == ["–", "–", "0.0044", "1.3", "1,234"]


def test_the_ablation_states_what_was_run(ablation: Path) -> None:
    """Quick runs all have D = 50, where the paper's rows have 5000 and 10000."""
    table = ablation_table(only(ablation))
    rows = {row.cells[0].text: [cell.text for cell in row.cells] for row in table.rows}
    assert list(rows) == ["1", "2", "10", "16", "without FSA"]
    assert [row.kind for row in table.rows] == ["", "", "other", "", "other"]  # rules where the paper has them
    assert [column.name for column in table.columns[1:8]] == [
        "classifier", "projection", "targets", "H", "D", "R", "adapted",
    ]  # fmt: skip
    assert rows["1"][1:8] == ["NCM", "no", "–", "–", "–", "–", "no"]
    assert rows["2"][1:8] == ["NCM", "yes", "means", "3", "50", "–", "no"]
    assert rows["10"][1:8] == ["ELM", "yes", "paper", "1", "50", "100", "no"]
    assert rows["16"][5] == "50"
    assert (rows["16"][9], rows["without FSA"][9]) == ("92.75", "–")  # the paper's, beside ours
    assert "Quick: " in table.caption


def test_parameters_of_every_row_are_stated(features: str, table1: Path, tmp_path: Path) -> None:
    table = parameters_table(only(table1), identifier="p")
    stated = {row.cells[0].text: row.cells[-1].text for row in table.rows}
    (run,) = [run for run in load_runs(table1) if run.title == "AnaCP" and run.seed == 0]
    assert set(stated) == set(only(table1).titles)
    assert stated["AnaCP"].split(", ")[0] == "n_projected=60"
    assert stated["AnaCP"].count("=") == len(run.parameters)
    assert "repulsion=1" in stated["AnaCP"]  # a default
    make(tmp_path, plain(features, ["NCM"]))
    change(tmp_path / "blobs" / "NCM-seed0", parameters={})  # as an older version left it
    assert parameters_table(only(tmp_path), identifier="p").rows[0].cells[-1].text == "not recorded"


def test_parameters_that_differ_between_data_are_told_apart(features: str, tmp_path: Path) -> None:
    other = write_features(tmp_path / "other.npz", seed=1)
    for data, ridge in ((features, 1.0), (other, 2.0)):
        make(tmp_path / "runs", plain(data, ["Ridge"], parameters={"ridge": ridge}))
    make(tmp_path / "runs", [*plain(features, ["NCM"]), *plain(other, ["NCM"])])
    rows = [[cell.text for cell in row.cells] for row in parameters_table(only(tmp_path), identifier="p").rows]
    assert [row[:2] for row in rows] == [["NCM", "all"], ["Ridge", "blobs"], ["Ridge", "other"]]
    assert [row[-1].split(", ")[0] for row in rows[1:]] == ["ridge=1", "ridge=2"]


HOSTILE = Table(
    "x",
    "100 % of A_last & <b>more</b>",
    (TableColumn("name", numeric=False), TableColumn("A_last", "set_1"), TableColumn("A_avg", "set_1")),
    (
        TableRow(
            (
                TableCell("a|b_c<script>$x$\\"),
                TableCell("91.20", 91.2034, 0.1, "best"),
                TableCell("90.00", 90.0, None, "second"),
            )
        ),
        TableRow((TableCell('plain, "quoted"'), TableCell("-1.50", -1.5), TableCell())),
    ),
)


def test_html() -> None:
    text = to_html(HOSTILE)
    assert "<script>" not in text
    assert "a|b_c&lt;script&gt;$x$\\" in text
    assert '<b>91.20</b><span class="deviation"> ± 0.10</span>' in text
    assert "<u>90.00</u>" in text
    assert "−1.50" in text
    assert "A<sub>last</sub>" in text


def test_markdown() -> None:
    lines = to_markdown(HOSTILE).splitlines()
    assert lines[0] == r"100 % of A\_last & &lt;b&gt;more&lt;/b&gt;"
    assert lines[2] == r"| name | set\_1: A\_last | set\_1: A\_avg |"
    assert lines[3] == "| --- | ---: | ---: |"
    assert lines[4] == r"| a\|b\_c&lt;script&gt;$x$\\ | **91.20** ± 0.10 | <u>90.00</u> |"
    assert lines[5] == '| plain, "quoted" | -1.50 | – |'


def test_latex() -> None:
    text = to_latex(HOSTILE)
    assert r"\caption{100 \% of $A_{\mathrm{last}}$ \& \textless{}b\textgreater{}more" in text
    assert r"a\textbar{}b\_c\textless{}script\textgreater{}\$x\$\textbackslash{} & $\mathbf{91.20}_{\pm 0.10}$" in text
    assert r"$\underline{90.00}$ \\" in text
    assert r"\multicolumn{2}{c}{set\_1}" in text
    assert text.count("{") == text.count("}")


def test_sums_of_letters_are_no_commands() -> None:
    table = Table(
        "x", "AnaCP - Σ_y, Σ alone, 名", (TableColumn("x", numeric=False),), (TableRow((TableCell("a\nb"),)),)
    )
    assert r"\caption{AnaCP - $\Sigma_y$, $\Sigma$ alone, U+540D}" in to_latex(table)
    assert r"a b \\" in to_latex(table)


def test_latex_compiles(table1: Path, ablation: Path, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex (Debian: apt-get install texlive-latex-recommended)")
    report([table1, ablation], tmp_path / "report.html", formats=("tex",))
    (tmp_path / "hostile.tex").write_text(to_latex(HOSTILE))
    (tmp_path / "whole.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx,amssymb}"
        r"\begin{document}\input{report}\input{hostile}\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "whole.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "pages" in done.stdout


def test_csv_parses_back() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(HOSTILE))))
    assert [row["name"] for row in rows] == ["a|b_c<script>$x$\\", 'plain, "quoted"']
    assert (float(rows[0]["set_1: A_last"]), float(rows[0]["set_1: A_last std"])) == (91.2034, 0.1)
    assert (rows[1]["set_1: A_last std"], rows[1]["set_1: A_avg"]) == ("", "")
