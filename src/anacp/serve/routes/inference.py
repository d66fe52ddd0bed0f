"""The Open Inference Protocol, version 2: predictions for programs that speak it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from anacp.items import HeldImage
from anacp.serve.refusals import RefusedError, missing
from anacp.serve.routes.context import Context
from anacp.serve.uploads import check_texts
from anacp.version import __version__

KEEP = 0.95
OUTPUTS = {"label": "BYTES", "probability": "FP32", "unknown": "BOOL", "probabilities": "FP32", "classes": "BYTES"}


class Tensor(BaseModel):
    """An input: texts, or photos in base 64."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(examples=["texts"])
    shape: list[int] = Field(max_length=2, examples=[[1]])
    datatype: str = Field(examples=["BYTES"])
    data: list[Any] = Field(max_length=10_000, examples=[["a text to look at"]])


class Wanted(BaseModel):
    """An output that is wanted."""

    model_config = ConfigDict(extra="allow")
    name: str


class Inference(BaseModel):
    """A request of the protocol."""

    model_config = ConfigDict(extra="allow")
    id: str | None = None
    inputs: list[Tensor] = Field(min_length=1, max_length=1)
    outputs: list[Wanted] | None = Field(None, max_length=20)


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["Open Inference Protocol"])
    service = context.service
    field, name = ("images" if service.modality == "image" else "texts"), service.model.stem

    def check(model: str, version: str | None = None) -> None:
        if model != name:
            raise missing("a model", model, f"It is called {name}.")
        if version is not None and version != str(service.snapshot.version):
            raise missing("the version that answers", version, f"That is {service.snapshot.version}; leave it out.")

    @routes.get("/v2", summary="What the server is")
    async def server() -> dict[str, Any]:
        return {"name": "anacp", "version": __version__, "extensions": []}

    @routes.get("/v2/health/live", summary="The process answers")
    async def live() -> dict[str, bool]:
        return {"live": True}

    @routes.get("/v2/health/ready", summary="The model answers", responses={503: {}})
    async def ready() -> Response:
        fine = service.snapshot.classifier is not None
        return JSONResponse({"ready": fine}, 200 if fine else 503)

    @routes.get("/v2/models/{model}", summary="What goes in and what comes out")
    @routes.get("/v2/models/{model}/versions/{version}", include_in_schema=False)
    async def about(model: str, version: str | None = None) -> dict[str, Any]:
        check(model, version)
        shapes = {"probabilities": [-1, -1]}
        return {
            "name": name,
            "versions": [str(service.snapshot.version)],
            "platform": "anacp",
            "inputs": [{"name": field, "datatype": "BYTES", "shape": [-1]}],
            "outputs": [
                {"name": one, "datatype": kind, "shape": shapes.get(one, [-1])} for one, kind in OUTPUTS.items()
            ],
        }

    @routes.get("/v2/models/{model}/ready", summary="This model answers", responses={503: {}})
    @routes.get("/v2/models/{model}/versions/{version}/ready", include_in_schema=False)
    async def model_ready(model: str, version: str | None = None) -> Response:
        check(model, version)
        fine = service.snapshot.classifier is not None
        return JSONResponse({"name": name, "ready": fine}, 200 if fine else 503)

    @routes.post("/v2/models/{model}/infer", summary="Predictions")
    @routes.post("/v2/models/{model}/versions/{version}/infer", include_in_schema=False)
    async def infer(model: str, asked: Inference, version: str | None = None) -> dict[str, Any]:
        check(model, version)
        items = _items(asked.inputs[0], field, context.limits.items)
        check_texts(items, context.limits)
        seen, judged = await context.judge(items, KEEP)
        problem = next((words for row, words in zip(seen.rows, seen.problems, strict=True) if row is None), None)
        if problem is not None or judged is None:
            raise RefusedError(
                422, "unreadable", problem or "Expected something readable, got nothing.", "Leave it out."
            )
        n, best = len(items), judged.probabilities.argmax(1)
        assert judged.familiarity is not None
        data: dict[str, tuple[list[int], list[Any]]] = {
            "label": ([n], [str(judged.classes[c]) for c in best]),
            "probability": ([n], judged.probabilities.max(1).astype(float).tolist()),
            "unknown": ([n], (judged.familiarity < 0).tolist()),
            "probabilities": ([n, len(judged.classes)], judged.probabilities.astype(float).ravel().tolist()),
            "classes": ([len(judged.classes)], [str(label) for label in judged.classes]),
        }
        wanted = [one.name for one in asked.outputs] if asked.outputs else list(OUTPUTS)
        unknown = [one for one in wanted if one not in OUTPUTS]
        if unknown:
            raise missing("an output", unknown[0], f"There are {', '.join(OUTPUTS)}.")
        outputs = [
            {"name": one, "datatype": OUTPUTS[one], "shape": data[one][0], "data": data[one][1]} for one in wanted
        ]
        found = {"model_name": name, "model_version": str(judged.version), "outputs": outputs}
        return found if asked.id is None else found | {"id": asked.id}

    return routes


def _items(given: Tensor, field: str, most: int) -> list[Any]:
    """Return the items of an input."""
    if given.name != field or given.datatype != "BYTES":
        raise RefusedError(
            422,
            "input",
            f"Expected an input {field} of BYTES, got {given.name[:40]!r} of {given.datatype[:20]}.",
            "See GET /v2/models/NAME.",
        )
    if given.shape not in ([len(given.data)], [len(given.data), 1]) or not given.data:
        raise RefusedError(
            422,
            "input",
            f"Expected as many items as the shape {given.shape} says, got {len(given.data)}.",
            "Correct the shape.",
        )
    if len(given.data) > most:
        raise RefusedError(
            413, "too_many", f"Expected at most {most} items, got {len(given.data)}.", "Send fewer at once."
        )
    if not all(isinstance(one, str) for one in given.data):
        raise RefusedError(
            422, "input", "Expected BYTES as texts, got something else.", "Send texts, or photos in base 64."
        )
    if field == "texts":
        return list(given.data)
    try:
        return [
            HeldImage(f"photo {place}", base64.b64decode(one, validate=True)) for place, one in enumerate(given.data, 1)
        ]
    except (binascii.Error, ValueError) as problem:
        raise RefusedError(422, "input", "Expected photos in base 64, got something else.", "Encode them.") from problem
