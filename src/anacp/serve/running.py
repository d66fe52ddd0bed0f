"""The process: a socket, a server, and an orderly end."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

from anacp.errors import DiskError
from anacp.extras import require

if TYPE_CHECKING:
    from anacp.serve.guarding import Guard

GRACE = 3  # seconds that open connections, such as pages that follow, have to end


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(1024)
    except OSError as problem:
        made.close()
        raise DiskError(
            f"Expected to listen at {host}:{port}, got: {problem.strerror}. Choose another address: "
            "--port 0 takes a free one."
        ) from problem
    return made


def address_of(listening: socket.socket) -> str:
    """Return where a browser finds it."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def run(app: Guard, listening: socket.socket, *, ready: Callable[[], None] | None = None) -> None:
    """Answer requests until the process is told to end, by Ctrl-C or SIGTERM; what is being answered is finished."""
    uvicorn: Any = require("uvicorn", extra="serve", purpose="Serving")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=65_536,
    )
    server: Any = type("Server", (uvicorn.Server,), {"capture_signals": suppress})(config)

    def end(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(ValueError):  # in a thread, where others see to signals
            before[number] = signal.signal(number, end)
    try:
        if ready is not None:
            ready()
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
