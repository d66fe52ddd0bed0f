"""Copies of a model that answer on the nodes of a cluster: a Ray Serve application that follows one writer.

The writer is a `Service` of this process, the only one that teaches. Each version that it has settled is put on the
cluster; every copy takes it from there when it comes, and says of each answer which version it is of. A copy that ends
is started again by Ray Serve, and begins with the newest version.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import sleep
from typing import Any, cast

from anacp.cluster import Cluster
from anacp.encoders import Encoder
from anacp.extras import require
from anacp.learners import Learner, only_answering
from anacp.serve.limits import Limits
from anacp.serve.service import Service
from anacp.serve.solving import Snapshot

NAMESPACE = "anacp"
PURPOSE = "Answering on a cluster"
LONGEST_WAIT = 20.0  # seconds that a copy waits for another version before it asks again
LOOK_SECONDS = 2.0  # between looks at whether what was told is still known


@dataclass(frozen=True)
class Answering:
    """What copies need of one version."""

    learner: Learner[Any] | None


class Newest:
    """An actor that holds the newest version; it may end and come back empty, and is then told again."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._version = encoder, -1
        self._content: Any = None
        self._changed = asyncio.Event()

    async def encoder(self) -> Encoder:
        """Return what makes features, with its network."""
        return self._encoder

    async def version(self) -> int:
        """Return which version is held; -1 before the first."""
        return self._version

    async def tell(self, version: int, content: list[Any]) -> None:
        """Take another version: a reference to it, in a list so that it is not fetched here."""
        if version <= self._version:
            return
        self._version, self._content = version, content
        waiting, self._changed = self._changed, asyncio.Event()
        waiting.set()

    async def after(self, version: int) -> tuple[int, Any]:
        """Return the newest version and a reference to it, once it is another than one; or that one after a while."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_WAIT):
                while self._version in (-1, version):
                    await self._changed.wait()
        return self._version, self._content


@dataclass(frozen=True)
class _State:
    version: int


class Copy:
    """What the routes ask of a service, of a model that is only asked."""

    def __init__(self, encoder: Encoder) -> None:
        from anacp.serve.batching import Gatherer

        self.snapshot = Snapshot(-1, None)
        self.modality = encoder.modality
        self._listeners: list[Callable[[int, int], None]] = []
        self.gatherer = Gatherer(encoder, self.answering)
        self.gatherer.start()

    @property
    def state(self) -> _State:
        """The version that this copy knows of."""
        return _State(self.snapshot.version)

    def answering(self, *, early: bool = False) -> Snapshot:
        """Return what answers now."""
        return self.snapshot

    def listen(self, listener: Callable[[int, int], None]) -> None:
        """Have someone told of each version."""
        self._listeners.append(listener)

    def take(self, version: int, content: Answering) -> None:
        """Answer by another version from now on."""
        holder: Any = None if content.learner is None else _Holder(content.learner)
        self.snapshot = Snapshot(version, holder)
        for listener in self._listeners:
            listener(version, version)


@dataclass(frozen=True)
class _Holder:
    """What a snapshot asks of a classifier."""

    learner: Learner[Any]


class Replica:
    """A deployment of Ray Serve: one copy, behind the same guard and the same route as the writer."""

    def __init__(self, name: str, limits: Limits, hosts: tuple[str, ...], token: str | None) -> None:
        ray: Any = require("ray", extra="ray-serve", purpose=PURPOSE)
        self._ray, self._newest = ray, ray.get_actor(name, namespace=NAMESPACE)
        self._copy = Copy(ray.get(self._newest.encoder.remote()).received())
        self._follow_once()
        self._app, self._follower = _application(self._copy, limits, hosts, token)
        self._following = False
        threading.Thread(target=self._follow, name="anacp-following", daemon=True).start()

    def _follow_once(self) -> None:
        version, content = self._ray.get(self._newest.after.remote(self._copy.snapshot.version))
        if content is not None and version != self._copy.snapshot.version:
            self._copy.take(version, self._ray.get(content[0]))

    def _follow(self) -> None:
        while True:
            try:
                self._follow_once()
            except self._ray.exceptions.RayError:  # it ended, or the writer did: another will tell
                sleep(LOOK_SECONDS)

    def check_health(self) -> None:
        """Say to Ray Serve that this copy must be started again, if it must be."""
        if not self._copy.gatherer.is_alive():
            raise RuntimeError("Expected the thread that answers to live, got none.")

    async def __call__(self, request: Any) -> Any:
        """Answer a request."""
        from starlette.responses import Response

        if not self._following:
            self._following = True
            self._follower.follow()
        body, sent = await request.body(), cast(list[dict[str, Any]], [])

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self._app(request.scope, receive, send)
        content = b"".join(message.get("body", b"") for message in sent[1:])
        answer = Response(content, sent[0]["status"])
        answer.raw_headers = list(sent[0]["headers"])
        return answer


def _application(copy: Copy, limits: Limits, hosts: tuple[str, ...], token: str | None) -> tuple[Any, Any]:
    """Return the guarded application of a copy, and who waits for its versions."""
    from fastapi import FastAPI

    from anacp.serve.app import say_refusals
    from anacp.serve.following import Follower
    from anacp.serve.guarding import Guard
    from anacp.serve.measuring import Measures
    from anacp.serve.routes import predicting
    from anacp.serve.routes.context import Context

    service = cast(Any, copy)
    follower = Follower(service)
    app = FastAPI(title="anacp", docs_url=None, redoc_url=None)
    app.include_router(predicting.router(Context(service, follower, limits, cast(Any, None))))

    @app.get("/v1/health/ready")
    async def ready() -> dict[str, Any]:
        version = copy.snapshot.version
        return {"ready": copy.snapshot.classifier is not None, "version": version, "process": os.getpid()}

    say_refusals(app)
    return Guard(app, limits=limits, measures=Measures(), hosts=hosts, token=token), follower


class _Telling(threading.Thread):
    """Puts each version that the writer has settled on the cluster, and again if it is no longer known there."""

    def __init__(self, service: Service, cluster: Cluster, newest: Any) -> None:
        super().__init__(name="anacp-telling", daemon=True)
        self._service, self._ray, self._newest = service, cluster.ray, newest
        self._wakes, self._ending = threading.Event(), False
        self._told: tuple[int, Any] = (-1, None)
        service.listen(lambda version, solved: self._wakes.set())

    def run(self) -> None:
        while not self._ending:
            with contextlib.suppress(self._ray.exceptions.RayError):  # told again at the next look
                self.tell()
            self._wakes.wait(LOOK_SECONDS)
            self._wakes.clear()

    def tell(self) -> None:
        """Tell of the version that answers now, unless it is known."""
        snapshot = self._service.snapshot
        if self._told[0] != snapshot.version:
            learner = None if snapshot.classifier is None else only_answering(snapshot.classifier.learner)
            self._told = snapshot.version, self._ray.put(Answering(learner))
        if self._ray.get(self._newest.version.remote()) < self._told[0]:
            self._ray.get(self._newest.tell.remote(self._told[0], [self._told[1]]))

    def stop(self) -> None:
        self._ending = True
        self._wakes.set()
        self.join()


@contextlib.contextmanager
def replicated(
    service: Service,
    cluster: Cluster,
    n: int,
    *,
    host: str = "127.0.0.1",
    port: int = 8001,
    limits: Limits | None = None,
    hosts: tuple[str, ...] = (),
    token: str | None = None,
    num_cpus: float = 1,
) -> Iterator[str]:
    """Have copies of a model answer on a cluster as long as this lasts; lend their address.

    Parameters
    ----------
    service : Service
        The writer.
    cluster : Cluster
        Of `anacp.cluster.connected`.
    n : int
        How many copies.
    host, port : optional
        Where Ray Serve listens on its nodes. The first application of a cluster decides.
    limits, hosts, token : optional
        As for `create_app`.
    num_cpus : float
        Of each copy.
    """
    serve: Any = require("ray.serve", extra="ray-serve", purpose=PURPOSE)
    name = f"anacp-{service.model.stem}"
    options = {"name": name, "namespace": NAMESPACE, "num_cpus": 0, "max_restarts": -1, "max_concurrency": 1000}
    newest = cluster.ray.remote(Newest).options(**options).remote(service.encoder.portable())
    telling = _Telling(service, cluster, newest)
    try:
        telling.tell()
        telling.start()
        serve.start(http_options={"host": host, "port": port})
        deployment = serve.deployment(
            Replica, name="copies", num_replicas=n, ray_actor_options={"num_cpus": num_cpus}, health_check_period_s=2
        )
        served = (host, *hosts)
        serve.run(deployment.bind(name, limits or Limits(), served, token), name=name, route_prefix="/")
        yield f"http://{host}:{port}/"
    finally:
        serve.delete(name)
        if not serve.status().applications:  # of somebody else
            serve.shutdown()
        if telling.is_alive():
            telling.stop()
        cluster.ray.kill(newest)
