import csv
import io

import pytest

from anacp.reports.collect import Comparison, collect, statistic
from anacp.reports.paper import Column as PaperColumn
from anacp.reports.paper import column_for, row_name
from anacp.reports.tables import Cell, Column, Row, Table, to_csv, to_html, to_latex, to_markdown
from anacp.reports.tables.ablation import ablation_table
from anacp.reports.tables.results import relative_error, results_table
from anacp.reports.tables.table import number, rank, seconds
from tests.reports.folders import SUBSTITUTE, write_collection, write_run

DINO = {"name": "dinov2-base", "fingerprint": "f", "pretrained_on": None, "licence": "Apache-2.0"}
CIFAR = {"name": "cifar100", "title": "CIFAR-100", "n_train": 1, "n_test": 1, "n_classes": 8, "licence": "none stated"}


def only(path) -> Comparison:
    (comparison,) = collect([path]).comparisons
    return comparison


def marks(*values: float | None, competing: list[bool] | None = None) -> list[str]:
    cells = [number(None if value is None else statistic([value])) for value in values]
    return [cell.mark for cell in rank(cells, competing or [True] * len(values))]


def cells_of(table: Table, title: str) -> list[Cell]:
    return next(list(row.cells) for row in table.rows if row.cells[0].text == title)


def test_statistic() -> None:
    found = statistic([90.0, None, 92.0])
    assert found is not None
    assert (found.mean, found.deviation, found.n) == (91.0, 1.0, 2)
    assert statistic([None]) is None
    assert number(statistic([90.0])).deviation is None  # one seed has no spread
    assert number(found).deviation == 1.0


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


def test_results_of_a_comparison(tmp_path) -> None:
    table = results_table(only(write_collection(tmp_path)))
    assert [row.cells[0].text for row in table.rows] == [
        "Joint linear probe", "NCM", "SLDA", "RanPAC", "AnaCP - Σ_y", "AnaCP", "Rel. error",
    ]  # fmt: skip
    assert [row.kind for row in table.rows] == ["bound", "", "", "", "other", "other", "summary"]
    a_last, a_avg = cells_of(table, "AnaCP")[1:3]
    assert (a_last.text, a_last.mark) == ("92.00", "best")
    assert a_last.deviation == pytest.approx((0.02 / 3) ** 0.5)
    assert cells_of(table, "RanPAC")[1].mark == "second"
    assert cells_of(table, "Joint linear probe")[1].mark == cells_of(table, "AnaCP - Σ_y")[1].mark == ""
    assert cells_of(table, "Joint linear probe")[2] == Cell()  # A_avg of a joint run
    assert cells_of(table, "Rel. error")[1].value == pytest.approx(100 * 1.9 / 9.9)
    assert cells_of(table, "Rel. error")[1].text == "19.2 % ↓"
    assert a_avg.mark == "best"
    assert "Substitute" not in table.caption


def test_without_the_paper_method_there_is_no_relative_error(tmp_path) -> None:
    table = results_table(only(write_collection(tmp_path, {"NCM": 80.0, "SLDA": 81.0})))
    assert [row.cells[0].text for row in table.rows] == ["NCM", "SLDA"]


def test_one_method_one_seed(tmp_path) -> None:
    table = results_table(only(write_run(tmp_path / "run")))
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["AnaCP", "92.00", "94.38"]]
    assert table.rows[0].cells[1].mark == ""
    assert "one seed" in table.caption


def test_missing_cells(tmp_path) -> None:
    write_collection(tmp_path / "a", {"NCM": 80.0, "AnaCP": 90.0})
    write_collection(tmp_path / "b", {"AnaCP": 95.0}, dataset=CIFAR)
    table = results_table(only(tmp_path))
    assert [column.group for column in table.columns[1::2]] == ["minilm-l6 on clinc150", "minilm-l6 on cifar100"]
    assert cells_of(table, "NCM")[3] == Cell()
    assert cells_of(table, "AnaCP")[3].text == "95.00"
    assert cells_of(table, "Rel. error")[3] == Cell()


def test_the_papers_numbers_stand_beside_ours(tmp_path) -> None:
    write_collection(tmp_path, dataset=CIFAR, backbone=DINO, n_tasks=10)
    table = results_table(only(tmp_path))
    assert table.columns[3] == Column("A_last", "paper: DINO-v2 on CIFAR100")
    assert (cells_of(table, "AnaCP")[3].value, cells_of(table, "AnaCP")[3].deviation) == (92.15, 0.09)
    assert cells_of(table, "NCM")[3].value == 86.2  # the paper calls it SimpleCIL
    assert cells_of(table, "Joint linear probe")[4] == Cell()
    assert cells_of(table, "Rel. error")[3].text == "20.7 % ↓"


def test_the_papers_numbers_stand_where_we_have_none(tmp_path) -> None:
    write_run(tmp_path / "a", n_tasks=10, backbone=DINO, dataset=CIFAR)
    write_run(tmp_path / "b", title="SLCA", n_tasks=10)
    cells = cells_of(results_table(only(tmp_path)), "SLCA")
    assert [cell.text for cell in cells[1:5]] == ["–", "–", "88.80", "93.03"]


def test_times_too_short_to_matter_are_not_shown() -> None:
    assert [seconds(value).text for value in (0.0, 9e-4, 4.4e-3, 1.26, 1234.5)] == ["–", "–", "0.0044", "1.3", "1,234"]


def test_other_numbers_of_tasks_are_not_the_papers(tmp_path) -> None:
    write_collection(tmp_path, dataset=CIFAR, backbone=DINO, n_tasks=4)
    assert len(results_table(only(tmp_path)).columns) == 3


def test_a_substitute_says_so(tmp_path) -> None:
    write_collection(tmp_path, substitute=SUBSTITUTE)
    collection = collect([tmp_path])
    table = results_table(collection.comparisons[0])
    label = "Substitute for Table 1: DINO-v2 on CIFAR100: minilm-l6 on clinc150 instead."
    assert collection.substitutes == [f"{label} No DINO-v2 weights here."]
    assert table.caption.startswith(label)
    assert table.columns[3].group == "paper: DINO-v2 on CIFAR100"


def test_which_column_of_the_paper() -> None:
    def column(substitute: str | None = None, **changes) -> PaperColumn | None:
        facts = {"dataset": "cifar100", "backbone": "dinov2-base", "n_tasks": 10, "table": None}
        return column_for(**facts | changes, substitute=substitute)

    assert column() == PaperColumn("dinov2", "CIFAR100")
    assert column(dataset="cub-200-2011", backbone="mocov3-base") == PaperColumn("mocov3", "CUB")
    assert column(backbone="dinov2-small") is column(dataset="sample:cifar100") is None
    assert column("Table 2: MoCo-v3 on Cars", dataset="x") == PaperColumn("mocov3", "Cars")
    assert column("TinyImageNet", table="table1") == PaperColumn("dinov2", "TinyImageNet")
    assert column("Table 1") is column("Table 1: DINO-v2 on CUB and Cars") is None
    assert [row_name(name) for name in ("anacp", "coda prompt", "AnaCP-Σ_y", "mine")] == [
        "AnaCP", "CODA-Prompt", "AnaCP - Σ_y", None,
    ]  # fmt: skip


def test_ablation(tmp_path) -> None:
    changes = {"specification": {"table": "ablation"}, "dataset": CIFAR, "backbone": DINO, "n_tasks": 10}
    write_collection(tmp_path, {"10": 91.0, "2": 90.0, "without FSA": 92.5}, seeds=1, **changes)
    table = ablation_table(only(tmp_path))
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    assert [row[0] for row in rows] == ["2", "10", "without FSA"]
    assert rows[0] == ["2", "NCM", "yes", "no", "3", "5000", "–", "no", "89.90", "91.31"]
    assert rows[1][4:7] == ["1", "5000", "100"]
    assert rows[2][1:8] == ["–"] * 6 + ["no"]
    assert rows[2][9] == "–"


HOSTILE = Table(
    "x",
    "100 % of A_last & <b>more</b>",
    (Column("name", numeric=False), Column("A_last", "set_1"), Column("A_avg", "set_1")),
    (
        Row((Cell("a|b_c<script>$x$\\"), Cell("91.20", 91.2034, 0.1, "best"), Cell("90.00", 90.0, None, "second"))),
        Row((Cell("plain, \"quoted\""), Cell("-1.50", -1.5), Cell())),
    ),
)  # fmt: skip


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


def test_csv_parses_back() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(HOSTILE))))
    assert [row["name"] for row in rows] == ["a|b_c<script>$x$\\", 'plain, "quoted"']
    assert (float(rows[0]["set_1: A_last"]), float(rows[0]["set_1: A_last std"])) == (91.2034, 0.1)
    assert (rows[1]["set_1: A_last std"], rows[1]["set_1: A_avg"]) == ("", "")
