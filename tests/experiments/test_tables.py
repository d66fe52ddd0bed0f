"""The paper's tables as runs."""

import pytest

from anacp import AnaCP
from anacp.errors import UnknownNameError
from anacp.experiments.planning import plan
from anacp.experiments.tables import ABLATION, MAIN, TABLES
from anacp.methods.choosing import on_features
from tests.conftest import SHARED

ANALYTIC = [
    "Joint linear probe",
    "SimpleCIL",
    "SLDA",
    "KLDA",
    "GACL",
    "APER",
    "FeCAM",
    "RanPAC",
    "AnaCP - Σ_y",
    "AnaCP",
]


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_DATA", str(tmp_path))


def test_what_is_missing_is_named_with_what_to_do() -> None:
    made = plan("table1")
    assert made.specifications == []
    assert [reason.partition(":")[0] for reason in made.missing] == [
        "cifar100",
        "imagenet-r",
        "cub-200-2011",
        "tiny-imagenet",
        "stanford-cars",
    ]


def test_substitutes_run_anywhere_and_say_what_they_stand_for() -> None:
    made = plan("table1", substitute=True, seeds=(0, 1))
    assert not made.missing
    assert [run.title for run in made.specifications if run.seed == 1 and run.dataset == "sample:cifar100"] == ANALYTIC
    assert {run.dataset for run in made.specifications} == {"sample:cifar100", "sample:clinc150"}
    assert all(
        run.substitute is not None and "Table 1: DINO-v2" in run.substitute["for"] for run in made.specifications
    )
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
    assert [run.title for run in trained.specifications] == [row.title for row in MAIN]


def test_the_ablation_has_the_papers_rows() -> None:
    """Against the paper's own description of each row."""
    made = plan("ablation", substitute=True, datasets=["cifar100"], seeds=(0,))
    assert [run.title for run in made.specifications] == [*map(str, range(1, 17)), "without FSA"]
    learners = {run.title: on_features(run.method, run.parameters, seed=0).learner for run in made.specifications}
    for number in range(1, 17):
        learner = learners[str(number)]
        projected = {13: 1000, 14: 2000, 16: 10_000}.get(number, 5000)
        if number in (1, 4):
            assert type(learner).__name__ == {1: "NCM", 4: "ELM"}[number]
            continue
        assert isinstance(learner, AnaCP)
        assert learner.classifier == ("ncm" if number in (2, 3) else "elm")
        assert learner.targets == ("means" if number in (2, 5) else "paper")
        assert learner.n_replay == {7: 20, 8: 50}.get(number, 100)
        assert learner.n_heads == {10: 1, 12: 5}.get(number, 3)
        assert learner.n_projected == projected
    assert [row.adapted for row in ABLATION] == [True] * 16 + [False]


def test_constants_follow_the_backbone() -> None:
    def ridge(table: str) -> float:
        made = plan(table, substitute=True, datasets=["cifar100"], methods=["GACL"], seeds=(0,))
        return made.specifications[0].parameters["ridge"]

    assert (ridge("table1"), ridge("table2")) == (1e4, 1e2)
    assert "L2P" not in {row.title for row in TABLES["table2"]}


def test_quick_is_one_seed_of_small_projections() -> None:
    made = plan("ablation", substitute=True, quick=True, seeds=(3, 4))
    assert {run.seed for run in made.specifications} == {3}
    assert {run.parameters.get("n_projected") for run in made.specifications} == {None, 1000}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"table": "table3"}, "Unknown table 'table3'. Did you mean 'table2'?"),
        ({"table": "table1", "methods": ["AnaCPP"]}, "Unknown row 'AnaCPP' of table1. Did you mean 'AnaCP'?"),
        ({"table": "table1", "substitute": True, "datasets": ["cub"]}, "Unknown substitute 'cub'. Known: clinc150"),
    ],
)
def test_near_misses_are_answered(call, message: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        plan(**call)
    assert message in str(raised.value)
