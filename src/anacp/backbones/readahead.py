"""Reading while computing: the next batches are prepared as the network works on this one."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["read_ahead"]

T = TypeVar("T")
R = TypeVar("R")


def read_ahead(function: Callable[[T], R], items: Iterable[T], *, workers: int) -> Iterator[R]:
    """Yield function(item) in order, computed by threads; at most `workers` + 1 results wait at any time."""
    with ThreadPoolExecutor(workers, thread_name_prefix="anacp-read") as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # a caller that stops early does not wait for what nobody will read
            for future in waiting:
                future.cancel()
