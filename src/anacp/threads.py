"""Several threads at one object: a lock that belongs to it alone."""

from threading import RLock
from types import TracebackType
from typing import Any


class OwnLock:
    """A lock that the thread that holds it may take again. What is copied or unpickled with it gets a new one."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def __reduce__(self) -> Any:
        return OwnLock, ()
