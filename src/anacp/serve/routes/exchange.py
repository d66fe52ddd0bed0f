"""Models out and in: export as a file, a graph or a page; import with a look at what it brings first."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, HTMLResponse, Response

from anacp import exports, reports
from anacp.errors import NotLearnedError
from anacp.methods import Classifier
from anacp.serve import reading
from anacp.serve.forms import form_of
from anacp.serve.refusals import RefusedError, missing
from anacp.serve.replaying import loaded
from anacp.serve.routes.context import Context, answered, changed, expected

As = Annotated[Literal["model", "onnx", "report"], Query(alias="as", description="Which kind of file.")]
PREVIEWS = 2  # models that wait to be merged
MODEL_FILE = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "string", "format": "binary", "description": "A model file."}},
                    "required": ["files"],
                }
            }
        },
    }
}


class Token(BaseModel):
    """What a preview gave."""

    token: str = Field(max_length=100)


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["exchange"])
    service = context.service
    waiting, lock = OrderedDict[str, bytes](), threading.Lock()

    @routes.get(
        "/v1/export",
        summary="The model as a file, as an ONNX graph, or a page on how good it is",
        response_class=Response,
    )
    async def export(kind: As = "model", with_backbone: bool = False) -> Response:
        snapshot = service.snapshot
        if snapshot.classifier is None:
            raise NotLearnedError("Expected a model that has learned something, got none. Teach it first.")
        headers = {"ETag": f'"{snapshot.version}"', "Cache-Control": "no-store"}
        if kind == "report":
            page = await context.apart(_report, context)
            return HTMLResponse(
                page, headers=headers | {"Content-Disposition": f'attachment; filename="{service.model.stem}.html"'}
            )
        folder = tempfile.TemporaryDirectory()
        name = service.model.stem + (".anacp" if kind == "model" else ".onnx")
        path = Path(folder.name) / name
        try:
            await context.apart(_written, snapshot.classifier, path, with_backbone)
        except BaseException:
            folder.cleanup()
            raise
        done = BackgroundTask(folder.cleanup)
        return FileResponse(
            path, media_type="application/octet-stream", filename=name, headers=headers, background=done
        )

    @routes.post("/v1/import/preview", summary="What another model would bring", openapi_extra=MODEL_FILE)
    async def preview(request: Request) -> Response:
        content = await _uploaded(request)

        def read() -> dict[str, Any]:
            other, here = loaded(content), service.state
            mine = set(here.classifier.classes_.tolist()) if here.classifier.n_examples else set()
            theirs = other.classes_.tolist()
            here.classifier.encoder.origin.check(other.encoder.origin)
            shared = len({move.digest for move in service.teacher.overlap(other)})
            return {
                "classes_new": [label for label in theirs if label not in mine],
                "classes_shared": [label for label in theirs if label in mine],
                "examples_new": other.n_examples - shared,
                "examples_shared": shared,
            }

        found = await context.apart(read)
        token = secrets.token_urlsafe(16)
        with lock:
            waiting[token] = content
            while len(waiting) > PREVIEWS:
                waiting.popitem(last=False)
        return answered(found | {"token": token}, service.state.version)

    @routes.post("/v1/import", summary="Learn all that a previewed model has learned")
    async def merge(request: Request, asked: Token) -> Response:
        with lock:
            content = waiting.get(asked.token)
        if content is None:
            raise missing("a model that was previewed", asked.token, "POST /v1/import/preview first.")
        change = await context.change(service.teacher.merge, content, expected=expected(request))
        with lock:
            waiting.pop(asked.token, None)
        return changed(change, {"new": change.new, "known": change.known})

    return routes


async def _uploaded(request: Request) -> bytes:
    """Return the one file of a form."""
    async with form_of(request, files=1, fields=10, part=1_000) as form:
        files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
        if len(files) != 1:
            raise RefusedError(422, "input", f"Expected one model file, got {len(files)}.", "Send it as `files`.")
        return await files[0].read()


def _written(classifier: Classifier, path: Path, with_backbone: bool) -> None:
    if path.suffix == ".onnx":
        exports.export(classifier, path, with_backbone=with_backbone)
    else:
        classifier.save(path)


def _report(context: Context) -> str:
    """Return a page of what examples would be taken for, by the others."""
    looked, journal = context.looking_back.now(), context.service.journal
    wrong = looked.wrong()
    pairs = sorted(wrong, key=lambda place: (looked.label(place), looked.rather(place), looked.margin[place]))[
        : reports.MOST_SHOWN
    ]
    known = {one.digest: one for one in reading.shown_examples(journal, [looked.digests[place] for place in pairs])}
    shown = []
    for place in pairs:
        example = known.get(looked.digests[place])
        if example is not None:
            picture = reading.picture(journal, example.digest)
            share = float(1 / (1 + 2.718281828459045 ** looked.margin[place]))
            shown.append(
                reports.Shown(
                    example.text or example.name, looked.label(place), looked.rather(place), share, 1 - share, picture
                )
            )
    right = 100 * float(looked.right.mean())
    n = f"{right:.1f} % of {len(looked.own):,} examples recognised by the others"
    title = f"{context.service.model.name}, version {looked.version}: {n}"
    return reports.gallery(shown, title=title, n_wrong=len(wrong))
