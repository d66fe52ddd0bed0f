"""What every route works with, and how it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from anacp.serve.batching import Judged, Question, Ranked, Seen
from anacp.serve.changes import Change
from anacp.serve.fetching import LabelStudio
from anacp.serve.following import Follower
from anacp.serve.limits import Limits
from anacp.serve.looking_back import LookingBack
from anacp.serve.records import Content, Example
from anacp.serve.refusals import RefusedError
from anacp.serve.service import Service
from anacp.serve.uploads import Upload

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Context:
    """A service as its routes see it."""

    service: Service
    follower: Follower
    limits: Limits
    looking_back: LookingBack
    label_studio: LabelStudio | None = None  # where photos of its tasks are fetched
    changing: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, "anacp-changing"))

    async def see(self, upload: Upload) -> Seen:
        """Return what the model sees of an upload."""
        return await asyncio.wrap_future(self.service.gatherer.see(upload.items))

    async def judge(self, items: Any, keep: float | None) -> tuple[Seen, Judged | None]:
        """Return what the model sees, and says."""
        seen, said = await self.ask(items, Question(keep))
        assert not isinstance(said, Ranked), "only early questions are answered by what is not settled"
        return seen, said

    async def ask(self, items: Any, question: Question) -> tuple[Seen, Judged | Ranked | None]:
        """Return what the model sees, and says, perhaps early."""
        return await asyncio.wrap_future(self.service.gatherer.judge(items, question))

    async def readable(self, upload: Upload, *, skip: bool = False) -> tuple[list[Content], list[dict[str, str]]]:
        """Return what is kept of an upload, and what of it cannot be read; if that is not to be skipped, refuse all."""
        seen = await self.see(upload)
        problems = [
            {"name": name, "reason": problem}
            for name, problem, row in zip(upload.names, seen.problems, seen.rows, strict=True)
            if row is None
        ]
        if problems and (not skip or len(problems) == len(upload.items)):
            first = problems[0]["reason"] or "it cannot be read"
            more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            raise RefusedError(422, "unreadable", f"{first}{more}", "Leave it out, or send on_error=skip.")
        contents = await self.apart(self.service.contents, upload.items, upload.names, seen)
        return contents, problems

    async def change(self, work: Callable[..., T], *given: Any, **named: Any) -> T:
        """Change the model, in a thread of its own: changes that wait for a slow disk do not keep those who read."""
        return await asyncio.get_running_loop().run_in_executor(self.changing, partial(work, *given, **named))

    async def apart(self, work: Callable[..., T], *given: Any, **named: Any) -> T:
        """Do something that takes a while in a thread."""
        return await run_in_threadpool(work, *given, **named)


def expected(request: Request) -> int | None:
    """Return the version that a client says it knows, by `If-Match`."""
    stated = request.headers.get("if-match")
    if stated is None or stated.strip() == "*":
        return None
    number = stated.strip().removeprefix("W/").strip('"')
    if not number.isdecimal() or len(number) > 18:
        raise RefusedError(
            412, "changed_meanwhile", f"Expected a version in If-Match, got {stated[:40]!r}.", "Send the ETag."
        )
    return int(number)


def answered(body: dict[str, Any], version: int, status: int = 200) -> JSONResponse:
    """Return an answer about a version of the model."""
    headers = {"ETag": f'"{version}"', "Cache-Control": "no-store"}
    return JSONResponse({"version": version, **body}, status, headers)


def shown(example: Example) -> dict[str, Any]:
    """Return an example as a client sees it."""
    facts: dict[str, Any] = {"id": example.id, "label": example.label, "name": example.name}
    if example.text is not None:
        return facts | {"kind": "text", "text": example.text}
    return facts | {"kind": "image", "thumbnail": f"/v1/examples/{example.id}/thumbnail"}


def digest_of(identifier: str) -> bytes:
    """Return the digest that an identifier stands for."""
    try:
        digest = bytes.fromhex(identifier)
    except ValueError:
        digest = b""
    if len(digest) != 16:
        raise RefusedError(
            404, "not_found", f"Expected the id of an example, got {identifier[:40]!r}.", "GET /v1/examples lists them."
        )
    return digest


def changed(change: Change, body: dict[str, Any]) -> JSONResponse:
    """Return what a change did."""
    return answered({**body, "changed": change.event is not None}, change.version)
