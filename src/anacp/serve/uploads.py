"""What a request brings: photos as bytes, never as paths, or texts; and the words beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request

from anacp.items import HeldImage
from anacp.serve.forms import form_of
from anacp.serve.limits import Limits
from anacp.serve.refusals import RefusedError

LONGEST_NAME = 200


@dataclass(frozen=True, eq=False)
class Upload:
    """Items for the model, what to call each, and the fields that came with them."""

    items: Sequence[Any]  # texts, or images whose bytes are here
    names: Sequence[str]
    fields: Mapping[str, Any]

    def text(self, field: str) -> str:
        """Return a field that must be a text."""
        value = self.fields.get(field)
        if not isinstance(value, str):
            got = "none" if value is None else type(value).__name__
            raise RefusedError(422, "input", f"Expected a text as {field!r}, got {got}.", f"Give {field}.")
        return value


async def uploaded(request: Request, modality: str, limits: Limits, *, required: bool = True) -> Upload:
    """Return what a request brings, if it is what the model takes."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "multipart/form-data":
        found = await _form(request, limits)
    elif kind == "application/json":
        found = await _document(request)
    else:
        raise RefusedError(
            415,
            "content_type",
            f"Expected multipart/form-data or application/json, got {kind or 'none'!r}.",
            "Send photos as multipart files, texts as JSON.",
        )
    if not found.items and required:
        what = "photos as multipart `files`" if modality == "image" else '{"texts": […]}'
        raise RefusedError(422, "input", "Expected something to look at, got nothing.", f"Send {what}.")
    if len(found.items) > limits.items:
        raise RefusedError(
            413, "too_many", f"Expected at most {limits.items} items, got {len(found.items)}.", "Send fewer at once."
        )
    is_text = modality == "text"
    if any(isinstance(item, str) != is_text for item in found.items):
        wanted, got = ("texts", "photos") if is_text else ("photos", "texts")
        raise RefusedError(422, "modality", f"Expected {wanted}, which this model takes, got {got}.", f"Send {wanted}.")
    check_texts(found.items, limits)
    return found


def check_texts(items: Sequence[Any], limits: Limits) -> None:
    """Refuse texts that are too long, or have halves of characters; other items pass."""
    texts = [item for item in items if isinstance(item, str)]
    longest = max(map(len, texts), default=0)
    if longest > limits.characters:
        raise RefusedError(
            413,
            "too_long",
            f"Expected texts of at most {limits.characters:,} characters, got {longest:,}.",
            "Shorten it.",
        )
    if any("\ud800" <= letter <= "\udfff" for text in texts for letter in text):
        raise RefusedError(422, "input", "Expected texts of whole characters, got half of one.", "Send UTF-8.")


async def document(request: Request) -> Mapping[str, Any]:
    """Return the JSON object that a request brings."""
    try:
        found = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError) as problem:
        raise RefusedError(
            400, "json", f"Expected JSON, got something else: {problem}.", "Check what is sent."
        ) from problem
    if not isinstance(found, dict):
        raise RefusedError(422, "input", f"Expected a JSON object, got {type(found).__name__}.", "Put it into {…}.")
    return found


def texts_in(found: Mapping[str, Any], field: str) -> list[str]:
    """Return a list of texts among the fields of a document."""
    given = found.get(field, [])
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise RefusedError(
            422, "input", f"Expected a list of texts as {field!r}, got something else.", f'Give "{field}": ["…"].'
        )
    return given


async def _document(request: Request) -> Upload:
    found = await document(request)
    texts = texts_in(found, "texts")
    names = texts_in(found, "names") or texts
    if len(names) != len(texts):
        raise RefusedError(
            422, "input", f"Expected a name for each text, got {len(names)} for {len(texts)}.", "Or give none."
        )
    return Upload(texts, [name[:LONGEST_NAME] for name in names], found)


async def _form(request: Request, limits: Limits) -> Upload:
    items: list[Any] = []
    names: list[str] = []
    fields: dict[str, Any] = {}
    texts: list[str] = []
    async with form_of(request, files=limits.items + 1, fields=limits.items + 20, part=limits.body) as form:
        for field, value in form.multi_items():
            if isinstance(value, UploadFile):
                name = (value.filename or "photo").replace("\\", "/").rpartition("/")[2][:LONGEST_NAME]
                items.append(HeldImage(name, await value.read()))
                names.append(name)
            elif field == "texts":
                texts.append(value)
            else:
                fields[field] = value
    return Upload([*items, *texts], [*names, *(text[:LONGEST_NAME] for text in texts)], fields)
