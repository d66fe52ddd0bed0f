import json
import os

import pytest
from typer.testing import CliRunner

from anacp.cli.features import features
from anacp.encoders import Encoder, FeatureEntry, FeatureStore
from anacp.errors import ParameterError
from tests.backbones.models import pictures
from tests.backbones.test_backbone import small


@pytest.fixture
def entries(tmp_path, monkeypatch: pytest.MonkeyPatch) -> list[FeatureEntry]:
    """A default store with features of two backbones."""
    monkeypatch.setenv("ANACP_HOME", str(tmp_path))
    for name, n in (("one", 3), ("two", 4)):
        Encoder(small(name=name, architecture=name)).encode(pictures(n), store=FeatureStore())
    return sorted(FeatureStore().entries(), key=lambda entry: entry.card.backbone)


def invoke(*arguments: str, **options: str):
    return CliRunner().invoke(features, [*arguments], **options)


def test_list(entries, tmp_path) -> None:
    listed = json.loads(invoke("list", "--json").output)
    assert {entry["key"]: (entry["backbone"], entry["rows"]) for entry in listed} == {
        entries[0].key: ("one", 3),
        entries[1].key: ("two", 4),
    }
    assert all(entry["bytes"] > 0 and entry["age_days"] < 1 for entry in listed)
    output = invoke("list").output
    assert "2 entries" in output
    assert "0.0 days" in output
    (entries[0].folder / "card.json").write_text("{")
    assert "damaged or old" in invoke("list").output


def test_list_of_nothing(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "nowhere"))
    assert "No features in" in invoke("list").output
    assert invoke("verify").output.startswith("0 entries read")


def test_verify(entries) -> None:
    result = invoke("verify")
    assert (result.exit_code, result.output) == (0, "2 entries read, 0 damaged\n")
    (shard,) = entries[1].folder.glob("*.safetensors")
    shard.write_bytes(shard.read_bytes()[:-4])
    result = invoke("verify")
    assert result.exit_code == 1
    assert f"{entries[1].key}: Expected the shard as it was written" in result.output
    found = {entry["key"]: entry["problems"] for entry in json.loads(invoke("verify", "--json").output)}
    assert found[entries[0].key] == []
    assert str(shard) in found[entries[1].key][0]


def test_prune_asks_and_says_what_it_frees(entries) -> None:
    refused = invoke("prune", "--backbone", "two", input="n\n")
    assert "This frees 1 entry" in refused.output
    assert "Nothing removed." in refused.output
    assert entries[1].folder.exists()
    preview = json.loads(invoke("prune", "--all", "--json").output)
    assert (len(preview["entries"]), preview["removed"]) == (2, False)
    assert "Removed 1 entry" in invoke("prune", "--backbone", "two", input="y\n").output
    assert entries[0].folder.exists()
    assert not entries[1].folder.exists()


def test_prune_by_age_and_all(entries) -> None:
    for path in [*entries[0].folder.iterdir(), entries[0].folder]:
        os.utime(path, (0, 0))
    assert json.loads(invoke("prune", "--older-than", "30", "--yes", "--json").output)["removed"]
    assert [entry.folder.exists() for entry in entries] == [False, True]
    (entries[1].folder / "card.json").write_text("{")
    invoke("prune", "--older-than", "30", "--yes")
    invoke("prune", "--backbone", "two", "--yes")  # its card no longer says so
    assert entries[1].folder.exists()
    invoke("prune", "--all", "--yes")
    assert not entries[1].folder.exists()
    assert "Nothing removed." in invoke("prune", "--all").output


def test_prune_wants_to_know_what() -> None:
    with pytest.raises(ParameterError, match="Expected what to remove"):
        CliRunner().invoke(features, ["prune"], catch_exceptions=False)
