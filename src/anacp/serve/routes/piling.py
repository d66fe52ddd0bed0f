"""The pile: what has no label yet, the most uncertain first."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from anacp.serve import reading
from anacp.serve.batching import Judged
from anacp.serve.records import Example
from anacp.serve.refusals import missing
from anacp.serve.routes.bodies import uploads_of
from anacp.serve.routes.context import Context, answered, changed, digest_of, expected, shown
from anacp.serve.routes.predicting import answer_of
from anacp.serve.routes.teaching import OneClass
from anacp.serve.uploads import uploaded

KEEP = 0.95


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["pile"])
    service = context.service
    guesses = Guesses(context)

    @routes.post("/v1/pile", summary="Put photos or texts on the pile, without a label", openapi_extra=uploads_of({}))
    async def add(request: Request) -> Response:
        upload = await uploaded(request, service.modality, context.limits)
        contents, skipped = await context.readable(upload, skip=True)
        added = await context.change(service.pile.put, contents)
        return answered({"added": added, "skipped": skipped}, service.state.version)

    @routes.get("/v1/pile", summary="What waits for a label, the most uncertain first")
    async def pile(limit: Annotated[int, Query(ge=1, le=500)] = 20) -> Response:
        return await context.apart(lambda: answered(*guesses.first(limit)))

    @routes.post("/v1/pile/{identifier}/label", summary="Learn something of the pile as a class")
    async def label(request: Request, identifier: str, asked: OneClass) -> Response:
        digest, version = digest_of(identifier), expected(request)
        change = await context.change(service.pile.label, digest, asked.label, expected=version)
        return changed(change, {"new": change.new, "known": change.known})

    @routes.delete("/v1/pile/{identifier}", summary="Take something off the pile, unlearned")
    async def remove(identifier: str) -> Response:
        if not await context.change(service.pile.take_off, digest_of(identifier)):
            raise missing("something on the pile", identifier, "GET /v1/pile lists it.")
        return answered({"removed": 1}, service.state.version)

    return routes


class Guesses:
    """What the model says of the pile; asked again only when either of them has changed."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._turn = threading.Lock()
        self._known: tuple[int, list[Example]] | None = None
        self._judged: Judged | None = None

    def first(self, limit: int) -> tuple[dict[str, Any], int]:
        """Return the most uncertain of the pile with a guess for each, and the version that guesses."""
        snapshot = self._context.service.snapshot
        with self._turn:
            items, x = reading.pile(self._context.service.journal)
            if snapshot.classifier is None or not items:
                body = [shown(one) | {"guess": None} for one in items[:limit]]
                return {"pile": body, "total": len(items)}, snapshot.version
            if self._known is None or self._known != (snapshot.version, items):
                judged = Judged(snapshot.version, *snapshot.classifier.learner.judged(x, keep=KEEP))
                self._known, self._judged = (snapshot.version, items), judged
            judged_now = self._judged
        assert judged_now is not None
        if judged_now.probabilities.shape[1] < 2:
            order = np.arange(len(items))
        else:
            best = np.sort(judged_now.probabilities, axis=1)
            order = np.argsort(best[:, -1] - best[:, -2], kind="stable")
        body = []
        for place in order[:limit].tolist():
            answer = answer_of(judged_now, place, 3)
            guess = {"label": answer["top"][0]["label"]} | {
                name: answer[name] for name in ("probability", "unknown", "top")
            }
            body.append(shown(items[place]) | {"guess": guess})
        return {"pile": body, "total": len(items)}, judged_now.version
