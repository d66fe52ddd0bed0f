"""What changes the model: learn, forget, relabel, classes, undo, redo."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from anacp.serve.routes.bodies import UPLOADED, uploads_of
from anacp.serve.routes.context import Context, changed, digest_of, expected
from anacp.serve.uploads import document, texts_in, uploaded

OnError = Annotated[Literal["refuse", "skip"], Query(description="What cannot be read: refuse all, or leave it out.")]


class Relabel(BaseModel):
    """Examples, and the class that they go to."""

    ids: list[str] = Field(max_length=10_000, examples=[["9f86d081884c7d659a2feaa0c55ad015"]])
    label: str = Field(examples=["cat"])


class Rename(BaseModel):
    """A class, and its new name."""

    old: str = Field(examples=["cat"])
    new: str = Field(examples=["house cat"])


class Join(BaseModel):
    """Classes, and what they become."""

    labels: list[str] = Field(max_length=1000, examples=[["kitten", "cat"]])
    into: str = Field(examples=["cat"])


class OneClass(BaseModel):
    """A class."""

    label: str = Field(examples=["cat"])


class Steps(BaseModel):
    """How many changes."""

    steps: int = Field(1, ge=1, le=10_000)


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["teaching"])
    service, teacher = context.service, context.service.teacher

    @routes.post(
        "/v1/learn", summary="Learn photos or texts as a class", openapi_extra=uploads_of(UPLOADED, label="cat")
    )
    async def learn(request: Request, on_error: OnError = "refuse") -> Response:
        upload = await uploaded(request, service.modality, context.limits)
        label, version = upload.text("label"), expected(request)
        skip = "skip" in (on_error, upload.fields.get("on_error"))
        contents, skipped = await context.readable(upload, skip=skip)
        change = await context.change(teacher.learn, contents, [label] * len(contents), expected=version)
        body: dict[str, Any] = {
            "new": change.new,
            "known": change.known + len(upload.items) - len(skipped) - len(contents),
            "moved": [{"id": move.digest.hex(), "from": move.before} for move in change.moved],
            "skipped": skipped,
            "examples": [{"id": one.digest.hex(), "label": label, "name": one.name} for one in contents],
        }
        return changed(change, body)

    @routes.post(
        "/v1/forget",
        summary="Forget examples, by id or by content",
        openapi_extra=uploads_of({"ids": {"type": "array", "items": {"type": "string"}}}),
    )
    async def forget(request: Request) -> Response:
        upload = await uploaded(request, service.modality, context.limits, required=False)
        digests = [digest_of(one) for one in texts_in(upload.fields, "ids")]
        contents, _ = await context.readable(upload) if upload.items else ([], [])
        every = [*digests, *(one.digest for one in contents)]
        change = await context.change(teacher.forget, every, contents, expected=expected(request))
        return changed(change, {"forgotten": change.forgotten})

    @routes.post("/v1/relabel", summary="Move examples into a class")
    async def relabel(request: Request, asked: Relabel) -> Response:
        digests = [digest_of(one) for one in asked.ids]
        change = await context.change(teacher.relabel, digests, asked.label, expected=expected(request))
        return changed(change, {"moved": [{"id": move.digest.hex(), "from": move.before} for move in change.moved]})

    @routes.post("/v1/classes/rename", summary="Give a class another name")
    async def rename(request: Request, asked: Rename) -> Response:
        return changed(await context.change(teacher.rename, asked.old, asked.new, expected=expected(request)), {})

    @routes.post("/v1/classes/join", summary="Make classes one")
    async def join(request: Request, asked: Join) -> Response:
        return changed(await context.change(teacher.join, asked.labels, asked.into, expected=expected(request)), {})

    @routes.post("/v1/classes/delete", summary="Forget all examples of a class")
    async def delete(request: Request, asked: OneClass) -> Response:
        change = await context.change(teacher.delete_class, asked.label, expected=expected(request))
        return changed(change, {"forgotten": change.forgotten})

    @routes.delete("/v1/classes/{label:path}", summary="Forget all examples of a class")
    async def delete_by_path(request: Request, label: str) -> Response:
        change = await context.change(teacher.delete_class, label, expected=expected(request))
        return changed(change, {"forgotten": change.forgotten})

    async def steps_of(request: Request) -> int:
        return Steps.model_validate(await document(request)).steps

    @routes.post("/v1/undo", summary="Take the last changes back")
    async def undo(request: Request) -> Response:
        return changed(await context.change(teacher.undo, await steps_of(request), expected=expected(request)), {})

    @routes.post("/v1/redo", summary="Make changes again that were taken back")
    async def redo(request: Request) -> Response:
        return changed(await context.change(teacher.redo, await steps_of(request), expected=expected(request)), {})

    return routes
