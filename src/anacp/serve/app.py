"""The service as a web application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response

from anacp.errors import AnacpError
from anacp.serve.following import Follower
from anacp.serve.limits import Limits
from anacp.serve.refusals import Refusal, refusal
from anacp.serve.routes import model, predicting, teaching
from anacp.serve.routes.context import Context
from anacp.serve.service import Service
from anacp.version import __version__

PAGE = Path(__file__).parent / "page"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def create_app(service: Service, limits: Limits | None = None) -> FastAPI:
    """Return the application of a service, which outlives it."""
    context = Context(service, Follower(service), limits or Limits())

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        context.follower.follow()
        yield

    app = FastAPI(title="anacp", version=__version__, lifespan=running, docs_url=None, redoc_url=None)
    for routes in (model, teaching, predicting):
        app.include_router(routes.router(context))
    _say_refusals(app)
    _serve_page(app)
    return app


def _say_refusals(app: FastAPI) -> None:
    """Have every error answered in one form."""

    def said(problem: Refusal) -> JSONResponse:
        return JSONResponse(problem.body(), problem.status, problem.headers)

    @app.exception_handler(AnacpError)
    async def refused(request: Request, problem: AnacpError) -> JSONResponse:
        return said(refusal(problem))

    @app.exception_handler(RequestValidationError)
    @app.exception_handler(ValidationError)
    async def invalid(request: Request, problem: RequestValidationError | ValidationError) -> JSONResponse:
        first: Any = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return said(
            Refusal(
                422, "input", f"Expected a request as documented, got at {place}: {first['msg']}.", "See /openapi.json."
            )
        )

    @app.exception_handler(HTTPException)
    async def other(request: Request, problem: HTTPException) -> JSONResponse:
        return JSONResponse(
            Refusal(problem.status_code, "http", f"{problem.detail}.", "See /openapi.json.").body(),
            problem.status_code,
            problem.headers,
        )


def _serve_page(app: FastAPI) -> None:
    # Names are looked up among these, so that no path that a client gives ever reaches the disk.
    files = {path.name: path for path in PAGE.iterdir() if path.suffix in KINDS} if PAGE.is_dir() else {}

    @app.get("/", include_in_schema=False)
    async def start() -> Response:
        return FileResponse(files["index.html"], media_type=KINDS[".html"])

    @app.get("/page/{name}", include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "Not found")
        return FileResponse(files[name], media_type=KINDS[files[name].suffix], headers={"Cache-Control": "no-cache"})
