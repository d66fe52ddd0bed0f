"""How the OpenAPI document describes bodies that are multipart or JSON."""

from __future__ import annotations

from typing import Any

UPLOADED: dict[str, Any] = {
    "label": {"type": "string", "description": "The class.", "maxLength": 200, "example": "cat"}
}


def uploads_of(fields: dict[str, Any], **example: str) -> dict[str, Any]:
    """Return the request body of a route that takes photos as files or texts as JSON, with some fields besides."""
    required = [name for name in fields if name == "label"]
    files = {"files": {"type": "array", "items": {"type": "string", "format": "binary"}, "description": "Photos."}}
    texts = {"texts": {"type": "array", "items": {"type": "string"}, "description": "Texts."}}
    form = {"type": "object", "properties": files | fields, "required": required}
    document = {"type": "object", "properties": texts | fields, "required": required}
    shown = {"texts": ["a text to look at"], **example}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {"schema": form},
                "application/json": {"schema": document, "example": shown},
            },
        }
    }
