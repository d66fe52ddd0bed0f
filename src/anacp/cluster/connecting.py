"""A connection to a Ray cluster whose nodes run what we run."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anacp.errors import MismatchError, UnavailableError
from anacp.extras import require
from anacp.version import __version__
from anacp.words import counted, listed

AUTO, LOCAL = "auto", "local"
# What Ray prints, sends and starts unasked; whoever has set one of these has asked.
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}


@dataclass(frozen=True)
class Node:
    """A machine of a cluster, or a part of one."""

    id: str  # Ray's own, in hexadecimal
    name: str  # for people: its address
    cpus: float
    gpus: float


@dataclass(frozen=True)
class Cluster:
    """A cluster that this process is connected to; `ray` is the package."""

    ray: Any
    address: str

    def nodes(self) -> list[Node]:
        """Return the nodes that are alive now, the one of this process first."""
        own = self.ray.get_runtime_context().get_node_id()
        alive = [
            Node(
                one["NodeID"],
                one["NodeManagerAddress"],
                one["Resources"].get("CPU", 0.0),
                one["Resources"].get("GPU", 0.0),
            )
            for one in self.ray.nodes()
            if one["Alive"]
        ]
        return sorted(alive, key=lambda node: (node.id != own, node.id))

    def on(self, node: Node, *, soft: bool = False) -> Any:
        """Return the scheduling strategy that keeps a task or an actor to a node."""
        strategies = require("ray.util.scheduling_strategies", extra="ray", purpose="Working on a cluster")
        return strategies.NodeAffinitySchedulingStrategy(node.id, soft=soft)


@contextlib.contextmanager
def connected(address: str = AUTO, *, check: bool = True) -> Iterator[Cluster]:
    """Lend a connection to a cluster; one that this process has already is used, and stays.

    Parameters
    ----------
    address : str, default="auto"
        "auto" for the cluster that runs on this machine (or is named by RAY_ADDRESS), "local" to start one on this
        machine for as long as this lasts, or an address such as "10.0.0.1:6379" or "ray://10.0.0.1:10001".
    check : bool, default=True
        Refuse nodes that run another version of Python, Ray or anacp.

    Raises
    ------
    UnavailableError
        If Ray is not installed, or no cluster answers.
    MismatchError
        If versions differ.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    ray = require("ray", extra="ray", purpose="Working on a cluster")
    own = not ray.is_initialized()
    if own:
        _join(ray, address)
    try:
        cluster = Cluster(ray, ray.get_runtime_context().gcs_address)
        if check:
            check_versions(node_versions(cluster))
        yield cluster
    finally:
        if own:
            ray.shutdown()


def _join(ray: Any, address: str) -> None:
    options: dict[str, Any] = {"configure_logging": False, "log_to_driver": False}
    try:
        if address == LOCAL:
            ray.init(address="local", include_dashboard=False, **options)
        else:
            ray.init(address=address, **options)
    except ConnectionError as problem:
        wanted = "a Ray cluster on this machine" if address == AUTO else f"a Ray cluster at {address}"
        raise UnavailableError(
            f"Expected {wanted}, got no answer ({_first_line(problem)}). Start one with `ray start --head`, give its "
            "address, or have one started for this command alone: --cluster local."
        ) from problem
    except ray.exceptions.AuthenticationError as problem:
        raise UnavailableError(
            f"Expected a Ray cluster that knows this machine's token, got: {_first_line(problem)}. Start all nodes "
            "with the same token (~/.ray/auth_token), or set RAY_AUTH_MODE=disabled where the cluster has none."
        ) from problem
    except RuntimeError as problem:
        if "ersion mismatch" not in str(problem):
            raise
        raise MismatchError(
            f"Expected the same Ray and Python on this machine and the cluster, got others: {_first_line(problem)}. "
            "Install the same versions on both."
        ) from problem


def node_versions(cluster: Cluster) -> dict[str, dict[str, str | None]]:
    """Return which versions each node runs, by its address and id, asked in a process of each."""
    ray, probe = cluster.ray, cluster.ray.remote(num_cpus=0, max_retries=2)(_probe())
    asked = {
        f"{node.name} ({node.id[:6]})": probe.options(scheduling_strategy=cluster.on(node)).remote()
        for node in cluster.nodes()
    }
    found: dict[str, dict[str, str | None]] = {}
    for name, reference in asked.items():
        with contextlib.suppress(ray.exceptions.RayError):  # a node that has just gone; it is not asked to work either
            found[name] = ray.get(reference)
    return found


def own_versions() -> dict[str, str | None]:
    """Return what this process runs."""
    ray = require("ray", extra="ray", purpose="Working on a cluster")
    return {"Python": platform.python_version(), "ray": ray.__version__, "anacp": __version__}


def check_versions(found: Mapping[str, Mapping[str, str | None]]) -> None:
    """Refuse nodes, by name, that run other versions than this process."""
    own = own_versions()
    others = [
        f"{package} {version or 'none'} on {name}"
        for name, versions in found.items()
        for package, version in versions.items()
        if version != own[package]
    ]
    if others:
        wanted = ", ".join(f"{package} {version}" for package, version in own.items())
        raise MismatchError(
            f"Expected {wanted} on every node, as here, got {_listed(others)} (of {counted(len(found), 'node')}). "
            "Install the same versions everywhere, and start the nodes again."
        )


def _probe() -> Callable[[], dict[str, str | None]]:
    """Return a function that is sent by its content: a node may lack the package that it would come from."""

    def versions() -> dict[str, str | None]:
        import platform

        import ray

        try:
            from anacp.version import __version__ as own
        except ImportError:
            own = None  # type: ignore[assignment]
        return {"Python": platform.python_version(), "ray": ray.__version__, "anacp": own}

    return versions


def _listed(found: Sequence[str]) -> str:
    return listed(found, show=str)


def _first_line(problem: Exception) -> str:
    return next((line.strip().rstrip(".") for line in str(problem).splitlines() if line.strip()), "no reason")
