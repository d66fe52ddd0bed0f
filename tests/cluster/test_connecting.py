"""A connection, or a clear word."""

import sys

import pytest

from anacp import cluster
from anacp.cluster.connecting import check_versions, node_versions, own_versions
from anacp.errors import MismatchError, UnavailableError

pytestmark = pytest.mark.cluster


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UnavailableError, match=r"anacp\[ray\]"), cluster.connected():
        pass


def test_every_node_is_asked_what_it_runs(nodes: cluster.Cluster) -> None:
    found = node_versions(nodes)
    assert set(found) == {f"{node.name} ({node.id[:6]})" for node in nodes.nodes()}
    assert len(found) == 3
    assert all(versions == own_versions() for versions in found.values())
    check_versions(found)


@pytest.mark.parametrize("package", ["Python", "ray", "anacp"])
def test_other_versions_are_refused(nodes: cluster.Cluster, package: str) -> None:
    others = own_versions() | {package: None if package == "anacp" else "0.1"}
    with pytest.raises(MismatchError, match=f"{package} (none|0.1) on far away"):
        check_versions({"here": own_versions(), "far away": others})


def test_a_connection_that_is_there_is_used_and_stays(nodes: cluster.Cluster) -> None:
    with cluster.connected("nobody asks for this") as again:
        assert again.nodes() == nodes.nodes()
    assert nodes.ray.is_initialized()
    assert len(nodes.nodes()) == 3
