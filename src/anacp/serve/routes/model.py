"""What there is: the model, its classes, its examples, its history."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from anacp import learners
from anacp.serve import reading
from anacp.serve.refusals import missing
from anacp.serve.routes.context import Context, answered, digest_of, shown

Offset = Annotated[int, Query(ge=0, le=10**9)]
HEARTBEAT = 15.0  # seconds after which a line that nothing happened keeps a connection open


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["model"])
    service, journal = context.service, context.service.journal

    @routes.get("/v1/model", summary="What the model is, and which version")
    async def model() -> Response:
        return await context.apart(_model)

    def _model() -> Response:
        state, snapshot = service.state, service.snapshot
        classifier = state.classifier
        classes = classifier.classes_.tolist() if classifier.n_examples else []
        body: dict[str, Any] = {
            "name": service.model.name,
            "id": journal.id,
            "modality": f"{service.modality}s",
            "backbone": service.encoder.name,
            "learner": type(classifier.learner).__name__,
            "n_examples": classifier.n_examples,
            "classes": [{"label": label, "n": classifier.n_examples_of(label)} for label in classes],
            "can_undo": state.can_undo > 0,
            "can_redo": bool(state.stack.undone),
            "solved_version": snapshot.version,
            "solve_seconds": round(snapshot.seconds, 3),
            "pile": reading.n_on_pile(journal),
        }
        problem = snapshot.problem or service.saver.problem
        return answered(body | ({"problem": problem} if problem else {}), state.version)

    @routes.get("/v1/classes", summary="What is to be expected of each class")
    async def classes() -> Response:
        return await context.apart(_classes)

    def _classes() -> Response:
        snapshot = service.snapshot
        if snapshot.classifier is None:
            return answered({"classes": []}, snapshot.version)
        found = [
            {
                "label": one.label,
                "n": one.n,
                "sure": round(one.sure, 4),
                "confused_with": one.confused_with,
                "confusion": round(one.confusion, 4),
                "one_more_gains": round(one.gain, 4),
            }
            for one in learners.class_outlooks(snapshot.classifier.learner)
        ]
        return answered({"classes": found}, snapshot.version)

    @routes.get("/v1/examples", summary="Examples, the latest first")
    async def examples(
        label: str | None = None, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=500)] = 50
    ) -> Response:
        def read() -> Response:
            with journal.reading() as version:
                found, total = reading.examples(journal, label, offset, limit)
            return answered({"examples": list(map(shown, found)), "total": total}, version)

        return await context.apart(read)

    @routes.get("/v1/examples/{identifier}/thumbnail", summary="The small picture of an example")
    async def picture(identifier: str) -> Response:
        content = await context.apart(reading.picture, journal, digest_of(identifier))
        if content is None:
            raise missing("an example with a picture", identifier, "GET /v1/examples lists them.")
        # The identifier is the digest of the content: another picture has another address.
        headers = {"Cache-Control": "private, max-age=31536000, immutable"}
        return Response(content, media_type="image/jpeg", headers=headers)

    @routes.get("/v1/history", summary="The changes, the latest first")
    async def history(limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> Response:
        def read() -> Response:
            state = service.state
            events = reading.history(journal, state.stack, limit)
            facts = [reading.facts_of(event) | {"undone": undone} for event, undone in events]
            body = {"events": facts, "can_undo": state.can_undo > 0, "can_redo": bool(state.stack.undone)}
            return answered(body, state.version)

        return await context.apart(read)

    @routes.get(
        "/v1/events",
        summary="Server-sent events: the versions that the model comes to",
        response_class=StreamingResponse,
    )
    async def events() -> StreamingResponse:
        async def told() -> AsyncIterator[str]:
            before = None
            while True:
                now = {"version": service.state.version, "solved_version": service.snapshot.version}
                yield f"data: {json.dumps(now)}\n\n" if now != before else ": nothing new\n\n"
                before = now
                if now == {"version": service.state.version, "solved_version": service.snapshot.version}:
                    await context.follower.change(HEARTBEAT)
                await asyncio.sleep(0)

        return StreamingResponse(told(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    return routes
