"""Forms with files: read within limits, and every file of them closed, however they end."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import FormData
from starlette.formparsers import MultiPartParser
from starlette.requests import Request

from anacp.serve.refusals import RefusedError

logging.getLogger("python_multipart").setLevel(logging.ERROR)  # a broken form is the client's affair, and answered


@asynccontextmanager
async def form_of(request: Request, *, files: int, fields: int, part: int) -> AsyncIterator[FormData]:
    """Lend the form of a request: so many files and fields, and bytes of a field, at most."""
    try:
        parser = MultiPartParser(
            request.headers, request.stream(), max_files=files, max_fields=fields, max_part_size=part
        )
        try:
            yield await parser.parse()
        finally:
            for file in parser._files_to_close_on_error:  # all that were begun; a form that breaks off leaves some open
                file.close()
    except RefusedError:
        raise
    except (KeyError, ValueError, AttributeError, LookupError) as problem:  # no border, or an unknown encoding
        raise _broken(problem) from problem
    except Exception as problem:
        if type(problem).__module__.split(".")[0] not in ("starlette", "python_multipart"):
            raise
        raise _broken(problem) from problem


def _broken(problem: Exception) -> RefusedError:
    said = getattr(problem, "message", problem)
    return RefusedError(400, "multipart", f"Expected a multipart form, got: {said}.", "Check what is sent.")
