"""The paper's tables as data: cells that exist, and the numbers printed in them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anacp.errors import UnknownNameError
from anacp.paper import TABLES, Cell, citation, printed_cost, printed_relative_error, printed_value

CELLS = [
    Cell(table.name, row, column)
    for table in TABLES.values()
    for row in table.rows
    for column in (None, *table.columns)
]


@given(st.sampled_from(CELLS))
def test_cells_survive_json_whatever_their_capitals(cell: Cell) -> None:
    stated = json.loads(json.dumps(cell.as_dict()))
    assert Cell(**stated) == cell
    assert Cell(**{name: value.upper() for name, value in stated.items()}) == cell
    assert ("column" in stated) == (cell.column is not None)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (("table9", "AnaCP", None), "Unknown table 'table9'. Did you mean 'table2'?"),
        (("table1", "AnaCPP", None), "Unknown row of table1 'AnaCPP'. Did you mean 'AnaCP'?"),
        (("table2", "L2P", None), "Unknown row of table2 'L2P'."),  # excluded there
        (("efficiency", "AnaCP", "CUB"), "Unknown column of efficiency 'CUB'."),
    ],
)
def test_what_the_paper_does_not_have_is_refused(stated, message: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        Cell(*stated)
    assert message in str(raised.value)


def test_the_papers_numbers_are_those_of_its_tables(shared) -> None:
    stated = json.loads((shared / "paper" / "results.json").read_text())
    for table, known in (("table1", stated["dinov2"]), ("table2", stated["mocov3"])):
        for row, columns in known.items():
            for column, metrics in columns.items():
                for metric, value in metrics.items():
                    found = printed_value(Cell(table, row, column), metric)
                    assert found == (None if value is None else tuple(value))
    for row in stated["ablation_dinov2"]:
        for column, value in row["A_last"].items():
            assert printed_value(Cell("ablation", str(row["row"]), column), "A_last") == tuple(value)


def test_what_the_paper_does_not_print_is_nothing() -> None:
    assert printed_value(Cell("table1", "AnaCP"), "A_last") is None
    assert printed_value(Cell("table1", "Sequential fine-tuning", "CUB"), "A_last") is None
    assert printed_value(Cell("ablation", "without FSA", "CUB"), "A_last") is None
    assert printed_value(Cell("ablation", "3", "CUB"), "A_avg") is None
    assert printed_relative_error("ablation", "CUB", "A_last") is None


@pytest.mark.parametrize("metric", ["A_last", "A_avg"])
@pytest.mark.parametrize("table", ["table1", "table2"])
def test_relative_errors_follow_from_the_numbers_as_printed(table: str, metric: str) -> None:
    baselines = [row for row, known in TABLES[table].rows.items() if not known.joint and known.method != "AnaCP"]
    for column in TABLES[table].columns:
        own = printed_value(Cell(table, "AnaCP", column), metric)
        printed = [printed_value(Cell(table, row, column), metric) for row in baselines]
        best = max(value[0] for value in printed if value)
        assert own is not None
        follows = 100 * (own[0] - best) / (100 - best)
        assert printed_relative_error(table, column, metric) == pytest.approx(follows, abs=0.11)  # cut, not rounded


def test_data_are_the_papers_only_with_its_backbone() -> None:
    one, two = TABLES["table1"], TABLES["table2"]
    assert one.column_of("cifar100", "dinov2-base") == "CIFAR100"
    assert two.column_of("cub-200-2011", "mocov3-base") == "CUB"
    assert one.column_of("stanford-cars-190", "dinov2-base") == "Cars"
    for dataset, backbone in (("cifar100", "dinov2-small"), ("cifar100", None), ("sample:cifar100", "dinov2-base")):
        assert one.column_of(dataset, backbone) is None


def test_where_the_numbers_come_from_is_said() -> None:
    assert "AnaCP: Toward Upper-Bound" in citation()
    assert "AnaCP stores 106.6 million numbers" in printed_cost()
