"""What an experiment says, in TOML and back; every mistake is answered with its place."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anacp.errors import AnacpError, DataFileError, MissingDataError, ParameterError
from anacp.experiments import ScenarioSettings, Specification, expand, specifications
from anacp.experiments.toml import to_toml
from anacp.paper import Cell

TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
tables = st.recursive(
    st.dictionaries(TEXT, values, max_size=4),
    lambda inner: st.dictionaries(TEXT, inner | values, max_size=3),
    max_leaves=4,
)


@given(tables)
def test_tables_survive_toml(table: dict) -> None:
    assert tomllib.loads(to_toml(table)) == table


def test_what_toml_cannot_say_is_refused() -> None:
    with pytest.raises(ParameterError, match="Leave out what has no value"):
        to_toml({"a": None})


@pytest.mark.parametrize(
    "specification",
    [
        Specification("sample:clinc150", "anacp"),
        Specification("x.npz", "KLDA-E", {"gamma": 1e-05}, title="E", seed=3, order_seed=7, joint=True),
        Specification(
            "clinc150",
            "AnaCP",
            backbone="minilm-l6",
            adaptation="dinov2",
            concatenate=True,
            embedding=True,
            keep_model=False,
            substitute={"for": "Table 1", "note": "another backbone"},
            paper=Cell("table1", "AnaCP", "CIFAR100"),
            quick=True,
            scenario=ScenarioSettings("online", sizes=(9, 5), order=("b", "a"), batch_size=7, base="blurry", share=0.2),
        ),
    ],
)
def test_specifications_survive_toml(specification: Specification, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(specification.to_toml())
    assert specifications(tmp_path / "spec.toml") == [specification]


def test_names_and_defaults() -> None:
    one = Specification("sample:clinc150", "klda-e", seed=2)
    assert (one.method, one.title, one.order_seed) == ("KLDA-E", "KLDA-E", 2)
    assert one.folder == Path("clinc150/KLDA-E-seed2")
    other = Specification("/data/a b.csv", "NCM", title="my: NCM/2", backbone="hf:x/y", seed=0, order_seed=5)
    assert other.folder == Path("a-b+hf-x-y/my-NCM-2-seed0-order5")


def test_a_file_expands_to_data_sets_methods_and_seeds() -> None:
    table = tomllib.loads("""
        seeds = [0, 1]
        joint = false
        [[dataset]]
        name = "sample:clinc150"
        [[dataset]]
        name = "clinc150"
        backbone = "minilm-l6"
        scenario = { tasks = 5 }
        [[method]]
        name = "NCM"
        [[method]]
        name = "LinearProbe"
        title = "joint linear probe"
        joint = true
        parameters = { n_epochs = 3 }
        [scenario]
        tasks = 10
    """)
    runs = expand(table)
    assert [(run.dataset, run.method, run.seed) for run in runs] == [
        (dataset, method, seed)
        for dataset in ("sample:clinc150", "clinc150")
        for method in ("NCM", "LinearProbe")
        for seed in (0, 1)
    ]
    assert [run.joint for run in runs[:4]] == [False, False, True, True]
    assert {run.scenario.tasks for run in runs[4:]} == {5}
    assert {run.backbone for run in runs[4:]} == {"minilm-l6"}
    assert runs[2].parameters == {"n_epochs": 3}
    assert len({run.folder for run in runs}) == 8


def test_a_file_may_state_the_table_a_data_set_its_column_and_a_method_its_row() -> None:
    runs = expand(
        tomllib.loads("""
        paper = { table = "table1" }
        [[dataset]]
        name = "cifar100"
        backbone = "dinov2-base"
        paper = { column = "CIFAR100" }
        [[dataset]]
        name = "sample:clinc150"
        [[method]]
        name = "NCM"
        paper = { row = "SimpleCIL" }
        [[method]]
        name = "SLDA"
        paper = { row = "SLDA" }
    """)
    )
    assert [run.paper for run in runs] == [
        Cell("table1", row, column) for column in ("CIFAR100", None) for row in ("SimpleCIL", "SLDA")
    ]


def test_other_numbers_of_tasks_are_not_the_papers() -> None:
    theirs = {"dataset": "cifar100", "backbone": "dinov2-base", "paper": Cell("table1", "SimpleCIL", "CIFAR100")}
    assert (
        Specification(method="NCM", **theirs).paper
        == Specification(method="NCM", scenario=ScenarioSettings(tasks=10), **theirs).paper
    )
    for settings in (ScenarioSettings(tasks=5), ScenarioSettings("online"), ScenarioSettings(sizes=(50, 50))):
        with pytest.raises(ParameterError, match="declare a `substitute`"):
            Specification(method="NCM", scenario=settings, **theirs)


MISTAKES = [
    ("[scenario]\ntaks = 5", "[scenario] taks: did you mean 'tasks'?"),
    ("[scenario]\ntasks = '5'", "[scenario] tasks: expected a whole number, got '5'."),
    ("[scenario]\ntasks = true", "[scenario] tasks: expected a whole number, got True."),
    ("[scenario]\nkind = 'blury'", "[scenario] kind: unknown 'blury', did you mean 'blurry'?"),
    ("[scenario]\nkind = 'online'\nbase = 'online'", "[scenario] base: unknown 'online'"),
    ("[scenario]\nshare = 0.5", "[scenario] share: a class-incremental scenario takes none."),
    ("[scenario]\nkind = 'domain-incremental'", "[scenario] domains: expected an npz file"),
    ("methods = ['SLDA']", "method: expected `method` or `methods`, got both."),
    ("seeds = []", "seed: expected one or several, got an empty list."),
    ("seeds = ['0']", "seed: expected a whole number, got '0'."),
    ("seed = -1", "seed: expected a whole number of at least 0, got -1."),
    ("bakbone = 'minilm-l6'", "bakbone: did you mean 'backbone'?"),
    ("adaptation = 'dinov2'", "adaptation: expected a backbone that is adapted, got none."),
    ("backbone = 'minilm-l6'\nconcatenate = true", "concatenate: expected an adaptation"),
    ("embedding = true", "embedding: only of AnaCP"),
    ("substitute = { fro = 'Table 1' }", "[substitute]: expected `for` and `note`, got fro."),
    ("paper = { table = 'table1' }", "[paper] row: expected one, got none."),
    ("paper = { table = 'table1', row = 3 }", "[paper] row: expected text, got 3."),
    ("paper = { table = 'table1', rwo = 'AnaCP' }", "[paper] rwo: did you mean 'row'?"),
    ("paper = { table = 'table1', row = 'AnaCPP' }", "[paper] Unknown row of table1 'AnaCPP'. Did you mean 'AnaCP'?"),
    (
        "paper = { table = 'table1', row = 'SimpleCIL', column = 'CIFAR100' }",
        "[paper] column: CIFAR100 is cifar100 with dinov2-base in 10 tasks, got something else.",
    ),
    ("keep_model = 1", "keep_model: expected true or false, got 1."),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistakes_are_answered_with_their_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text("dataset = 'sample:clinc150'\nmethod = 'NCM'\n" + text)
    with pytest.raises(ParameterError, match=re.escape(f"{tmp_path / 'spec.toml'}: {message}")):
        specifications(tmp_path / "spec.toml")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("{ name = 'AnaCPP' }", "Unknown method 'AnaCPP'. Did you mean 'AnaCP'?"),
        ("{ nam = 'AnaCP' }", "[[method]] 1 nam: did you mean 'name'?"),
        ("{ title = 'AnaCP' }", "[[method]] 1 name: expected one, got none."),
        ("[{ name = 'NCM' }, { name = 'AnaCP', seeds = [1] }]", "[[method]] 2 seeds: no such setting."),
        ("{ name = 'AnaCP', parameters = { n_projectd = 5 } }", "[method.parameters] n_projectd: did you mean 'n_pro"),
        ("{ name = 'AnaCP', parameters = { random_state = 5 } }", "[method.parameters] random_state: an experiment"),
        ("{ name = 'Mine', file = 'mine.py' }", "Expected a Python file with a method, got none at"),
        ("3", "method: expected text or a table or a list, got 3."),
    ],
)
def test_mistakes_of_methods(method: str, message: str) -> None:
    with pytest.raises(AnacpError, match=re.escape(message)):
        expand(tomllib.loads(f"dataset = 'sample:clinc150'\nmethod = {method}"))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="got no file there"):
        specifications(tmp_path / "spec.toml")
    (tmp_path / "spec.toml").write_text("dataset = ")
    with pytest.raises(DataFileError, match="Expected a TOML file"):
        specifications(tmp_path / "spec.toml")
    with pytest.raises(ParameterError, match="dataset: expected one or several, got none"):
        expand({"method": "NCM"})
