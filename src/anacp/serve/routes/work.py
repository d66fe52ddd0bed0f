"""Long work: how far it is, and how it is stopped."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from anacp.serve.refusals import missing
from anacp.serve.routes.context import Context, answered
from anacp.serve.working import Job


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["work"])
    service = context.service

    @routes.get("/v1/jobs", summary="Folders that are being learned, or were")
    async def jobs() -> Response:
        return answered({"jobs": list(map(_facts, service.worker.jobs()))}, service.state.version)

    @routes.post("/v1/jobs/{number}/stop", summary="Stop a job; what was learned stays")
    async def stop(number: int) -> Response:
        job = await context.apart(service.worker.stop, number)
        if job is None:
            raise missing("a job", str(number), "GET /v1/jobs lists them.")
        return answered({"job": _facts(job)}, service.state.version)

    return routes


def _facts(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "what": f"learn {job.folder}",
        "done": job.done,
        "total": job.total,
        "seconds_left": job.seconds_left,
        "state": job.state,
        "problem": job.problem,
    }
