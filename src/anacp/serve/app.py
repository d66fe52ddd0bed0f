"""The service as a web application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response

from anacp.errors import AnacpError
from anacp.serve.fetching import LabelStudio
from anacp.serve.following import Follower
from anacp.serve.guarding import Guard
from anacp.serve.limits import Limits
from anacp.serve.looking_back import LookingBack
from anacp.serve.measuring import Measures
from anacp.serve.refusals import RefusedError, refusal
from anacp.serve.routes import (
    advising,
    annotating,
    exchange,
    health,
    inference,
    model,
    piling,
    predicting,
    teaching,
    work,
)
from anacp.serve.routes.context import Context
from anacp.serve.service import Service
from anacp.version import __version__

PAGE = Path(__file__).parent / "page"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
ABOUT = """A model that is taught and asked.

Every answer about the model has its `version`, also as `ETag`; a change with `If-Match` is refused with 412 if the
model is at another one. `Host` must be a name of this service, and `Origin`, if there is one, the service itself; no
other header is needed. Where the service asks for a token: `Authorization: Bearer TOKEN`.
"""


class Error(BaseModel):
    """Why something was refused."""

    code: str = Field(examples=["unreadable"])
    message: str = Field(examples=["Expected an image, got a file that is truncated: a.jpg."])
    advice: str = Field(examples=["Remove or replace it."])


class Problem(BaseModel):
    """The body of every refusal."""

    error: Error


def create_app(
    service: Service,
    limits: Limits | None = None,
    *,
    hosts: tuple[str, ...] = (),
    token: str | None = None,
    label_studio: LabelStudio | None = None,
) -> Guard:
    """Return the application of a service, which must outlive it.

    Parameters
    ----------
    service : Service
        What is asked and taught.
    limits : Limits, optional
        How much, how often, how long.
    hosts : tuple of str
        Names under which it is asked, besides those of the loopback address.
    token : str, optional
        The hash of what clients must show, see `hashed`.
    label_studio : LabelStudio, optional
        Where photos of its tasks are fetched; without it nothing is fetched from anywhere.
    """
    limits, measures = limits or Limits(), Measures()
    context = Context(service, Follower(service), limits, LookingBack(service.journal), label_studio)

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        context.follower.follow()
        yield
        context.changing.shutdown(wait=True)

    app = FastAPI(
        title="anacp",
        version=__version__,
        description=ABOUT,
        responses={"4XX": {"model": Problem, "description": "Refused; nothing has changed."}},
        lifespan=running,
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
    )
    for routes in (teaching, predicting, model, advising, piling, exchange, work, inference, annotating):
        app.include_router(routes.router(context))
    app.include_router(health.router(context, measures))
    say_refusals(app)
    _serve_page(app)
    return Guard(app, limits=limits, measures=measures, hosts=hosts, token=token)


def say_refusals(app: FastAPI) -> None:
    """Have every error answered in one form."""

    def said(problem: RefusedError) -> JSONResponse:
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
            RefusedError(
                422, "input", f"Expected a request as documented, got at {place}: {first['msg']}.", "See /openapi.json."
            )
        )

    @app.exception_handler(HTTPException)
    async def other(request: Request, problem: HTTPException) -> JSONResponse:
        return JSONResponse(
            RefusedError(problem.status_code, "http", f"{problem.detail}.", "See /openapi.json.").body(),
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
