"""What every request passes first: who asks, from where, how much, how often, how long."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from time import monotonic
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from anacp.serve.limits import Limits
from anacp.serve.measuring import Measures
from anacp.serve.refusals import RefusedError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
OPEN = ("/v1/health/live", "/v1/health/ready", "/v2/health/live", "/v2/health/ready", "/health")  # without a token
LONG = ("/v1/events", "/v1/export", "/v1/import", "/v1/import/preview")  # take as long as they take
LARGE = ("/v1/import/preview",)
ADDRESSES = 10_000  # whose rate is remembered
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
}


def hashed(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


class Guard:
    """Stands before an application.

    Parameters
    ----------
    app : ASGI application
        What answers those who may pass.
    limits : Limits
        How much, how often, how long.
    measures : Measures
        Where requests are counted.
    hosts : sequence of str
        Names under which the service is asked, besides those of the loopback address. A page of another name that
        resolves to this machine is refused.
    token : str, optional
        The hash of what a client must show; without one, nothing is asked.
    """

    def __init__(
        self,
        app: Application,
        *,
        limits: Limits,
        measures: Measures,
        hosts: tuple[str, ...] = (),
        token: str | None = None,
    ) -> None:
        self._app, self._limits, self._measures = app, limits, measures
        self._hosts, self._token = {*LOOPBACK, *(host.lower() for host in hosts)}, token
        self._rates: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address: requests left, when
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = monotonic(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *given]}
            await send(message)

        self._inside += 1
        try:
            await self._passed(scope, receive, noted)
        finally:
            self._inside -= 1
            route = getattr(scope.get("route"), "path", "none")
            self._measures.request(scope["method"], route, status, monotonic() - start)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(scope)
        except RefusedError as problem:
            await _say(problem, scope, receive, send)
            return
        body = Body(receive, send, self._limits.import_body if scope["path"] in LARGE else self._limits.body)
        try:
            async with asyncio.timeout(None if scope["path"] in LONG else self._limits.seconds):
                await self._app(scope, body.receive, body.send)
        except TimeoutError:
            if body.started:
                raise
            late = f"Expected an answer within {self._limits.seconds:g} s, got none yet."
            await _say(
                RefusedError(503, "time", late, "Send less at once; /v1/history says what was done."),
                scope,
                receive,
                send,
            )
        if body.exceeded and not body.started:
            await _say(_too_large(body.limit), scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if _name(host) not in self._hosts:
            advice = "Ask under the address that the service printed, or start it with --allow-host NAME."
            raise RefusedError(403, "host", f"Expected a name of this service as Host, got {host[:80]!r}.", advice)
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{host}":
            advice = "Pages of other places may not use this service."
            raise RefusedError(
                403, "origin", f"Expected a request from this service's own page, got one from {origin[:80]!r}.", advice
            )
        self._check_rate(scope)
        if int_of(headers.get("content-length")) > (
            limit := self._limits.import_body if scope["path"] in LARGE else self._limits.body
        ):
            raise _too_large(limit)
        path = scope["path"]
        if self._token is not None and not (path == "/" or path.startswith("/page/") or path in OPEN):
            shown = _shown(headers.get("authorization", ""))
            if shown is None or not hmac.compare_digest(hashed(shown), self._token):
                advice = "Send Authorization: Bearer TOKEN."
                raise RefusedError(
                    401,
                    "token",
                    "Expected the token of this service, got none or another.",
                    advice,
                    headers={"WWW-Authenticate": "Bearer"},
                )

    def _check_rate(self, scope: Scope) -> None:
        """Refuse a client that asks too often, or anybody while too many are being answered."""
        limits, address = self._limits, str((scope.get("client") or ("",))[0])
        if self._inside > limits.waiting:
            raise RefusedError(
                429,
                "busy",
                f"Expected at most {limits.waiting} requests at once, got more.",
                "Ask again later.",
                headers={"Retry-After": "1"},
            )
        if not limits.a_second:
            return
        now = monotonic()
        left, before = self._rates.pop(address, (float(limits.burst), now))
        left = min(limits.burst, left + (now - before) * limits.a_second) - 1
        self._rates[address] = max(left, -1.0), now
        while len(self._rates) > ADDRESSES:
            self._rates.popitem(last=False)
        if left < 0:
            words = f"Expected at most {limits.a_second:g} requests a second, got more."
            raise RefusedError(429, "rate", words, "Ask more slowly.", headers={"Retry-After": "1"})


class Body:
    """A request's body, counted while it comes."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive, self._send, self.limit = receive, send, limit
        self._size = 0
        self.exceeded = self.started = False

    async def receive(self) -> Message:
        """Return the next part, unless there were too many."""
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > self.limit:
            self.exceeded = True
            raise _too_large(self.limit)
        return message

    async def send(self, message: Message) -> None:
        """Send an answer; what was too large is said by the guard, whatever the application makes of it."""
        if self.exceeded:
            return
        self.started = True
        await self._send(message)


async def _say(problem: RefusedError, scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse(problem.body(), problem.status, problem.headers)(scope, receive, send)


def _too_large(limit: int) -> RefusedError:
    return RefusedError(
        413, "too_large", f"Expected a request of at most {limit:,} bytes, got more.", "Send less at once."
    )


def _name(host: str) -> str:
    """Return a host without its port."""
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


def int_of(text: str | None) -> int:
    """Return a number that a header states; 0 for anything else, which is counted as it comes."""
    return int(text) if text is not None and text.isdecimal() and len(text) < 19 else 0


def _shown(authorization: str) -> str | None:
    """Return the token that a client shows: as Bearer, or as the password of Basic (as Label Studio sends it)."""
    kind, _, value = authorization.partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return None
    return None
