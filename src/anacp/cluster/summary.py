"""What each node of a cluster did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from anacp.cluster.connecting import Node
from anacp.words import counted, format_bytes


@dataclass
class NodeDid:
    """What one node did."""

    node: str
    shards: int = 0
    rows: int = 0
    seconds: float = 0.0  # in which it made features and learned them
    sums: int = 0
    sum_seconds: float = 0.0
    bytes_brought: int = 0  # of sums, from other nodes

    def words(self) -> str:
        """Return one line."""
        brought = f", {format_bytes(self.bytes_brought)} of sums brought" if self.bytes_brought else ""
        work = f"{counted(self.rows, 'row')} in {counted(self.shards, 'shard')}, {self.seconds:.1f} s"
        return f"node {self.node}: {work}, {counted(self.sums, 'sum')} in {self.sum_seconds:.1f} s{brought}"


@dataclass
class Tally:
    """Who did what, as it happens."""

    nodes: dict[str, NodeDid] = field(default_factory=dict)
    deaths: int = 0  # of processes whose node lived on
    lost_nodes: int = 0
    shards: int = 0  # all there are
    found: int = 0  # shards that an earlier start had learned

    def learned(self, node: Node, told: dict[str, Any]) -> None:
        """Note a shard."""
        did = self._of(node)
        did.shards += 1
        did.rows += told["rows"]
        did.seconds += told["seconds"]

    def merged(self, node: Node, seconds: float) -> None:
        """Note a sum of two."""
        did = self._of(node)
        did.sums += 1
        did.sum_seconds += seconds

    def brought(self, node: Node, size: int) -> None:
        """Note a sum that came from another node."""
        self._of(node).bytes_brought += size

    @property
    def bytes_brought(self) -> int:
        """Bytes of sums that went from node to node."""
        return sum(one.bytes_brought for one in self.nodes.values())

    def facts(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self) | {"nodes": [asdict(one) for one in self.nodes.values()]}

    def lines(self) -> list[str]:
        """Return it for people."""
        lines = [one.words() for one in self.nodes.values()]
        if self.found:
            lines.append(f"{counted(self.found, 'shard')} of {self.shards:,} learned by an earlier start")
        if self.deaths or self.lost_nodes:
            lines.append(f"{counted(self.deaths, 'process')} and {counted(self.lost_nodes, 'node')} lost on the way")
        return lines

    def _of(self, node: Node) -> NodeDid:
        return self.nodes.setdefault(node.id, NodeDid(f"{node.name} ({node.id[:6]})"))
