"""The paper's tables as runs."""

import pytest

from anacp.catalogue import METHODS
from anacp.errors import ParameterError, UnknownNameError
from anacp.experiments import plan
from anacp.experiments.planning import FAMILIES
from anacp.paper import TABLES, ablation_setting
from tests.conftest import SHARED
from tests.reports.made import write_topics

ANALYTIC = [
    "Joint linear probe", "SimpleCIL", "SLDA", "KLDA", "GACL", "APER", "FeCAM", "RanPAC", "AnaCP - Σ_y", "AnaCP"
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_DATA", str(tmp_path))


def test_what_is_missing_is_named_with_what_to_do() -> None:
    made = plan("table1")
    assert made.specifications == []
    columns = TABLES["table1"].columns.values()
    assert [reason.partition(":")[0] for reason in made.missing] == [column.dataset for column in columns]
    assert all("Expected" in reason for reason in made.missing)


def test_substitutes_run_anywhere_and_say_what_they_stand_for() -> None:
    made = plan("table1", substitute=True, seeds=(0, 1))
    assert not made.missing
    assert [run.title for run in made.specifications if run.seed == 1 and run.dataset == "sample:cifar100"] == ANALYTIC
    assert {run.dataset for run in made.specifications} == {"sample:cifar100", "sample:clinc150"}
    assert all(
        run.substitute is not None and "Table 1: DINO-v2" in run.substitute["for"] for run in made.specifications
    )
    assert {(run.paper.table, run.paper.row == run.title) for run in made.specifications} == {("table1", True)}
    assert {(run.dataset, run.paper.column) for run in made.specifications} == {
        ("sample:cifar100", "CIFAR100"), ("sample:clinc150", None),
    }  # fmt: skip
    # Without the texts nothing can be adapted, and the note says so.
    assert all(run.adaptation is None and "without" in run.substitute["note"] for run in made.specifications)
    assert [run.title for run in made.specifications if run.embedding] == ["AnaCP", "AnaCP"]


def test_with_the_texts_the_rows_are_adapted_as_published(shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_DATA", str(SHARED / "data"))
    made = plan("table1", substitute=True, datasets=["clinc150"], seeds=(0,))
    adapted = {run.title: run.concatenate for run in made.specifications if run.adaptation}
    assert adapted == {"APER": True, "RanPAC": False, "AnaCP - Σ_y": False, "AnaCP": False}
    assert {run.backbone for run in made.specifications} == {"minilm-l6"}
    trained = plan("table1", substitute=True, datasets=["clinc150"], methods=["all"], seeds=(0,))
    assert [run.title for run in trained.specifications] == list(TABLES["table1"].rows)


def test_without_substitutes_every_run_still_says_what_it_stands_for(tmp_path) -> None:
    data, network = write_topics(tmp_path, n_classes=12)
    made = plan("table1", datasets=[data], backbone=network, seeds=(0,))
    assert [run.paper.row for run in made.specifications] == ANALYTIC
    assert {(run.paper.table, run.paper.column, run.substitute) for run in made.specifications} == {
        ("table1", None, None)
    }
    recipes = {run.title: run.adaptation for run in made.specifications if run.adaptation}
    assert recipes == {"APER": "dinov2", "RanPAC": "ranpac", "AnaCP - Σ_y": "dinov2", "AnaCP": "dinov2"}


def test_the_ablation_has_the_papers_rows() -> None:
    """Against the paper's own description of each row."""
    made = plan("ablation", substitute=True, datasets=["cifar100"], seeds=(0,))
    assert [run.title for run in made.specifications] == [*map(str, range(1, 17)), "without FSA"]
    for run in made.specifications[:16]:
        told = ablation_setting(run.title)
        learner = METHODS[run.method].new(**run.parameters)
        if not told["projection"]:
            assert run.method == told["classifier"]
            assert getattr(learner, "n_projected", None) == told["projected"]
            continue
        assert run.method == "AnaCP"
        assert learner.classifier == told["classifier"].lower()
        assert learner.targets == ("paper" if told["repulsion"] else "means")
        assert (learner.n_heads, learner.n_projected) == (told["heads"], told["projected"])
        assert told["replay"] in (learner.n_replay, None)
    assert [row.adapted for row in TABLES["ablation"].rows.values()] == [True] * 16 + [False]


def test_constants_follow_the_backbone() -> None:
    def parameters(table: str, dataset: str, method: str) -> dict:
        made = plan(table, substitute=True, datasets=[dataset], methods=[method], seeds=(0,))
        return dict(made.specifications[0].parameters)

    ridges = [parameters(table, "cifar100", "GACL")["ridge"] for table in ("table1", "table2")]
    assert ridges == [1e4, 1e2]
    assert parameters("table2", "clinc150", "KLDA") == {"gamma": 1e-2, "shrinkage": 1e-4}  # MiniLM's


def test_quick_is_one_seed_of_small_projections() -> None:
    made = plan("ablation", substitute=True, quick=True, seeds=(3, 4))
    assert {run.seed for run in made.specifications} == {3}
    assert {run.parameters.get("n_projected") for run in made.specifications} == {None, 1000}
    assert all(run.quick for run in made.specifications)
    assert not any(run.quick for run in plan("ablation", substitute=True, seeds=(3,)).specifications)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"table": "table3"}, "Unknown table 'table3'. Did you mean 'table2'?"),
        ({"table": "table1", "methods": ["AnaCPP"]}, "Unknown row of table1 'AnaCPP'. Did you mean 'AnaCP'?"),
        ({"table": "table1", "substitute": True, "datasets": ["cub"]}, "Unknown substitute 'cub'. Known: cifar100"),
    ],
)
def test_near_misses_are_answered(call, message: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        plan(**call)
    assert message in str(raised.value)


def test_another_backbone_stands_in_alone_with_the_settings_of_its_family(shared, monkeypatch) -> None:
    monkeypatch.setenv("ANACP_DATA", str(SHARED / "data"))
    small = plan("table1", substitute=True, datasets=["clinc150"], seeds=(0,))
    made = plan("table1", substitute=True, backbone="minilm-l6", frozen=True, seeds=(0,))
    assert {(run.dataset, run.backbone, run.adaptation) for run in made.specifications} == {
        ("clinc150", "minilm-l6", None)
    }
    assert [run.parameters for run in made.specifications] == [run.parameters for run in small.specifications]
    assert all("without first-session adaptation" in run.substitute["note"] for run in made.specifications)
    assert not any("without" in run.substitute["note"] for run in small.specifications)


def test_mpnet_has_the_settings_of_minilm() -> None:
    assert FAMILIES["mpnet"] == FAMILIES["minilm"] == "minilm"


def test_frozen_rows_are_not_the_papers() -> None:
    with pytest.raises(ParameterError, match="with `substitute`"):
        plan("table1", frozen=True)
