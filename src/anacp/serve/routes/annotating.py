"""The protocol of Label Studio's ML backends: it predicts for tasks, and learns from annotations as they are made."""

from __future__ import annotations

import asyncio
import base64
import binascii
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from anacp.items import HeldImage
from anacp.serve.refusals import RefusedError
from anacp.serve.routes.context import Context
from anacp.serve.routes.predicting import answers_of
from anacp.serve.uploads import Upload, check_texts, document

LEARNING = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")
FORGETTING = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
TAGS = {"image": "Image", "text": "Text"}
LONGEST = 1_000_000  # characters of a labelling interface


@dataclass(frozen=True)
class Interface:
    """Where a labelling interface puts choices, and where its tasks keep what they are about."""

    from_name: str
    to_name: str
    field: str

    @classmethod
    def of(cls, config: Any, modality: str) -> Interface:
        """Return the first choices about something that the model takes."""
        if not isinstance(config, str) or len(config) > LONGEST or "<!" in config.replace("<!--", ""):
            raise RefusedError(
                422, "label_config", "Expected a labelling interface in XML, got something else.", "Send label_config."
            )
        try:
            root = ElementTree.fromstring(config)
        except ElementTree.ParseError as problem:
            raise RefusedError(
                422, "label_config", f"Expected a labelling interface, got: {problem}.", "Check it."
            ) from problem
        objects = {one.get("name"): one.get("value", "") for one in root.iter(TAGS[modality])}
        for one in root.iter("Choices"):
            value = objects.get(one.get("toName"))
            if value is not None and value.startswith("$") and one.get("name"):
                return cls(str(one.get("name")), str(one.get("toName")), value[1:])
        raise RefusedError(
            422,
            "label_config",
            f'Expected <Choices> about an <{TAGS[modality]}> with value="$…", got an interface without.',
            "Add them to the labelling interface.",
        )


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["Label Studio"])
    service = context.service

    def version() -> str:
        return str(service.snapshot.version)

    async def item_of(task: Any, interface: Interface) -> Any:
        """Return what a task is about, or why that cannot be looked at."""
        try:
            value = _value(task, interface)
            if service.modality == "text":
                return value
            if value.startswith("data:"):
                return _held(value)
            if context.label_studio is None:
                raise RefusedError(
                    422,
                    "task",
                    "Expected a photo as data:image/…;base64, got an address.",
                    "Nothing is fetched unless the service is started with --label-studio ADDRESS.",
                )
            return await context.apart(context.label_studio.fetch, value)
        except RefusedError as problem:
            return problem

    @routes.get("/health", summary="Label Studio asks whether it lives")
    async def health() -> dict[str, str]:
        return {"status": "UP", "model_class": "anacp"}

    @routes.post("/setup", summary="Label Studio introduces a project")
    async def setup(request: Request) -> dict[str, str]:
        given = await document(request)
        if given.get("schema"):
            Interface.of(given["schema"], service.modality)  # says now what does not fit
        return {"model_version": version()}

    @routes.post("/predict", summary="Predictions for tasks of Label Studio")
    async def predict(request: Request) -> dict[str, Any]:
        given = await document(request)
        interface, tasks = Interface.of(given.get("label_config"), service.modality), given.get("tasks", [])
        if not isinstance(tasks, list) or len(tasks) > context.limits.items:
            raise RefusedError(
                413, "too_many", f"Expected a list of at most {context.limits.items} tasks.", "Send fewer."
            )
        found: list[Any] = await asyncio.gather(*(item_of(task, interface) for task in tasks))
        readable = [place for place, item in enumerate(found) if not isinstance(item, RefusedError)]
        results: list[dict[str, Any]] = [{"model_version": version(), "score": 0.0, "result": []} for _ in tasks]
        if readable and service.snapshot.classifier is not None:
            items = [found[place] for place in readable]
            check_texts(items, context.limits)
            seen, judged = await context.judge(items, None)
            for place, answer in zip(readable, answers_of(seen, judged, items, 1), strict=True):
                if answer["label"] is not None and judged is not None:
                    results[place] = _prediction(interface, answer, str(judged.version))
        return {"results": results, "model_version": version()}

    @routes.post("/webhook", summary="Annotations that were made, changed or deleted", status_code=201)
    async def webhook(request: Request) -> Response:
        given = await document(request)
        action = given.get("action")
        if action in LEARNING:
            return await learned(given)
        if action in FORGETTING:
            return await forgotten(given)
        return JSONResponse({"status": "Unknown event"}, 200)

    async def learned(given: Mapping[str, Any]) -> Response:
        project, task, annotation = (_mapping(given, name) for name in ("project", "task", "annotation"))
        interface = Interface.of(project.get("label_config"), service.modality)
        label = _choice(annotation, interface)
        if label is None or annotation.get("was_cancelled"):
            return said(changed=False)
        item = await item_of(task, interface)
        if isinstance(item, RefusedError):
            raise item
        check_texts([item], context.limits)
        name = str(item if isinstance(item, str) else item.name)
        contents, _ = await context.readable(Upload([item], [name], {}))
        change = await context.change(service.annotations.made, str(annotation.get("id")), contents[0], label)
        return said(changed=change.event is not None)

    async def forgotten(given: Mapping[str, Any]) -> Response:
        several = given.get("annotations") or [given.get("annotation")]
        several = several if isinstance(several, list) else []
        ids = [str(one["id"]) for one in several if isinstance(one, dict) and "id" in one]
        change = await context.change(service.annotations.gone, ids)
        return said(changed=change.event is not None)

    def said(*, changed: bool) -> Response:
        result = {"model_version": str(service.state.version), "changed": changed}
        return JSONResponse({"status": "ok", "result": result}, 201)

    return routes


def _prediction(interface: Interface, answer: Mapping[str, Any], version: str) -> dict[str, Any]:
    choice = {
        "from_name": interface.from_name,
        "to_name": interface.to_name,
        "type": "choices",
        "value": {"choices": [answer["label"]]},
        "score": answer["probability"],
    }
    return {"model_version": version, "score": answer["probability"], "result": [choice]}


def _mapping(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = given.get(name)
    if not isinstance(found, dict):
        raise RefusedError(
            422, "input", f"Expected {name!r} in the event, got none.", "Have the webhook send its payload."
        )
    return found


def _choice(annotation: Mapping[str, Any], interface: Interface) -> str | None:
    """Return the one choice of an annotation; none or several teach nothing."""
    results = annotation.get("result")
    for one in results if isinstance(results, list) else []:
        if isinstance(one, dict) and one.get("from_name") == interface.from_name and isinstance(one.get("value"), dict):
            choices = one["value"].get("choices")
            if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], str):
                return choices[0]
    return None


def _value(task: Any, interface: Interface) -> str:
    """Return what a task says that it is about."""
    data = task.get("data") if isinstance(task, dict) else None
    value = data.get(interface.field) if isinstance(data, dict) else None
    if not isinstance(value, str):
        raise RefusedError(
            422, "task", f"Expected a text as {interface.field!r} of the task, got none.", "Check the task."
        )
    return value


def _held(value: str) -> HeldImage:
    """Return the photo of a data URI."""
    kind, comma, encoded = value.partition(",")
    try:
        if kind.startswith("data:image/") and kind.endswith(";base64") and comma:
            return HeldImage("photo", base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        pass
    raise RefusedError(422, "task", "Expected a photo as data:image/…;base64, got something else.", "Encode it.")
