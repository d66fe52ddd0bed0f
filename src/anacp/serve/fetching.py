"""Photos that another program keeps: fetched from the one place that was named when the service was started."""

from __future__ import annotations

import posixpath
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from anacp.errors import ParameterError
from anacp.items import HeldImage
from anacp.serve.refusals import RefusedError

SECONDS = 10.0  # for a photo
BYTES = 64_000_000
FOLDER = "/data/"  # where Label Studio has uploads and local files; its other paths do things
SAFE = "/:?&=%+,;@~!$'()*"


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *given: Any) -> None:
        """Follow nobody elsewhere."""


class LabelStudio:
    """Where photos of tasks are fetched: at an address that an operator gave, and at no other.

    Parameters
    ----------
    address : str
        Of Label Studio, such as "http://localhost:8080".
    token : str, optional
        Its legacy token, sent with each request.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ParameterError(
                f"Expected the address of Label Studio as http://HOST:PORT, got {address!r}. Check --label-studio."
            )
        self._place, self._prefix = (parts.scheme, parts.netloc), parts.path.rstrip("/")
        self._headers = {"Authorization": f"Token {token}"} if token else {}
        # No proxy, no redirect: what is asked is what was named.
        self._opener = build_opener(ProxyHandler({}), _NoRedirect())

    def fetch(self, value: str) -> HeldImage:
        """Return the photo that a task names, by its path or whole address there."""
        path = self._path(value)
        address = f"{'://'.join(self._place)}{quote(path, SAFE)}"
        try:
            with self._opener.open(Request(address, headers=self._headers), timeout=SECONDS) as answer:
                content: bytes = answer.read(BYTES + 1)
        except HTTPError as problem:
            problem.close()
            raise _refused(f"status {problem.code}", value) from problem
        except (URLError, OSError, HTTPException, ValueError) as problem:
            raise _refused(f"no answer ({problem})", value) from problem
        if len(content) > BYTES:
            raise RefusedError(
                413, "too_large", f"Expected a photo of at most {BYTES:,} bytes, got more.", "Make it smaller."
            )
        return HeldImage(posixpath.basename(unquote(path)) or "photo", content)

    def _path(self, value: str) -> str:
        """Return the path of what is named, if it is there and a file of data."""
        parts = urlsplit(value)
        named = (parts.scheme, parts.netloc)
        path = parts.path if named == ("", "") else parts.path.removeprefix(self._prefix)
        if named not in (("", ""), self._place) or not path.startswith(FOLDER) or ".." in unquote(unquote(path)):
            raise RefusedError(
                422,
                "task",
                f"Expected a photo of {'://'.join(self._place)}{FOLDER}…, got {value[:80]!r}.",
                "Nothing is fetched from elsewhere: upload it to Label Studio, or send data URIs.",
            )
        return f"{self._prefix}{path}" + (f"?{parts.query}" if parts.query else "")


def _refused(got: str, value: str) -> RefusedError:
    return RefusedError(
        422,
        "task",
        f"Expected a photo at {value[:80]!r}, got {got}.",
        "Check that Label Studio answers, and its token (--label-studio-token-file).",
    )
