"""Whether it lives, whether it answers, and its numbers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from anacp.serve.measuring import Measures
from anacp.serve.routes.context import Context


def router(context: Context, measures: Measures) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["health"])
    service = context.service

    @routes.get("/v1/health/live", summary="The process answers")
    async def live() -> dict[str, bool]:
        return {"live": True}

    @routes.get("/v1/health/ready", summary="The model answers; 503 while it cannot", responses={503: {}})
    async def ready() -> Response:
        fine = service.gatherer.is_alive() and service.solver.is_alive() and not service.snapshot.problem
        return JSONResponse({"ready": fine, "version": service.snapshot.version}, 200 if fine else 503)

    @routes.get("/metrics", summary="Numbers for Prometheus", response_class=PlainTextResponse)
    async def metrics() -> PlainTextResponse:
        return PlainTextResponse(measures.text(service), media_type="text/plain; version=0.0.4")

    return routes
