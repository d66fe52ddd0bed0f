import json

import pytest
from typer.testing import CliRunner

from anacp.cli.app import app, main
from anacp.features import Entry, features_of
from tests.backbones.models import pictures
from tests.backbones.test_backbone import small


@pytest.fixture
def entries(tmp_path, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """A default store with features of two backbones."""
    monkeypatch.setenv("ANACP_HOME", str(tmp_path))
    return [features_of(small(name=name), pictures(n), store=None).entry for name, n in (("one", 3), ("two", 4))]


def invoke(*arguments: str, **options: str):
    return CliRunner().invoke(app, ["features", *arguments], **options)


def make_old(entry: Entry) -> None:
    path = entry.folder / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"created": "2000-01-01T00:00:00+00:00"}))


def test_list(entries, tmp_path) -> None:
    listed = json.loads(invoke("list", "--json").output)
    assert {entry["key"]: (entry["backbone"], entry["rows"]) for entry in listed} == {
        entries[0].key: ("one", 3),
        entries[1].key: ("two", 4),
    }
    assert all(entry["bytes"] > 0 and entry["age_days"] < 1 and entry["complete"] for entry in listed)
    output = invoke("list").output
    assert "2 entries" in output
    assert "0.0 days" in output
    (entries[0].folder / "card.json").write_text("{")
    assert "damaged card" in invoke("list").output


def test_list_of_nothing(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "nowhere"))
    assert "No features in" in invoke("list").output
    assert invoke("verify").output.startswith("0 entries read")


def test_verify(entries) -> None:
    result = invoke("verify")
    assert (result.exit_code, result.output) == (0, "2 entries read, 0 damaged\n")
    shard = entries[1].folder / "00000.safetensors"
    shard.write_bytes(shard.read_bytes()[:-4])
    result = invoke("verify")
    assert result.exit_code == 1
    assert f"{entries[1].key}: Expected the shard as it was written" in result.output
    found = {entry["key"]: entry["problems"] for entry in json.loads(invoke("verify", "--json").output)}
    assert found[entries[0].key] == []
    assert "checksum" in found[entries[1].key][0]


def test_prune_asks_and_says_what_it_frees(entries) -> None:
    refused = invoke("prune", "--backbone", "two", input="n\n")
    assert "This frees 1 entries" in refused.output
    assert "Nothing removed." in refused.output
    assert entries[1].folder.exists()
    preview = json.loads(invoke("prune", "--all", "--json").output)
    assert (len(preview["entries"]), preview["removed"]) == (2, False)
    assert "Removed 1 entries" in invoke("prune", "--backbone", "two", input="y\n").output
    assert entries[0].folder.exists()
    assert not entries[1].folder.exists()


def test_prune_by_age_and_all(entries) -> None:
    make_old(entries[0])
    assert json.loads(invoke("prune", "--older-than", "30", "--yes", "--json").output)["removed"]
    assert [entry.folder.exists() for entry in entries] == [False, True]
    (entries[1].folder / "card.json").write_text("{")
    invoke("prune", "--older-than", "0", "--yes")
    assert entries[1].folder.exists()
    invoke("prune", "--all", "--yes")
    assert not entries[1].folder.exists()
    assert "Nothing removed." in invoke("prune", "--all").output


def test_prune_wants_to_know_what(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["anacp", "features", "prune"])
    with pytest.raises(SystemExit):
        main()
    assert "Expected what to remove" in capsys.readouterr().err
