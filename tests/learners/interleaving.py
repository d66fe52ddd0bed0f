"""Threads that run one line at a time, in an order that a seed decides: every interleaving can be forced."""

import random
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import anacp

WATCHED = tuple(str(Path(anacp.__file__).parent / room) for room in ("learners", "methods"))
BLOCKED = 0.02  # seconds after which a thread that does not come to its next line waits for another one's lock


class _Thread(threading.Thread):
    """Runs a task, and stops before every line of the watched rooms until it is told to go on."""

    def __init__(self, task: Callable[[], object], arrived: threading.Condition) -> None:
        super().__init__(daemon=True)
        self.task, self.arrived = task, arrived
        self.may_go, self.stopped, self.done = threading.Event(), False, False
        self.problem: BaseException | None = None

    def run(self) -> None:
        sys.settrace(self._called)
        try:
            self._pause()
            self.task()
        except BaseException as problem:
            self.problem = problem
        finally:
            sys.settrace(None)
            with self.arrived:
                self.done = True
                self.arrived.notify_all()

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(WATCHED) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._pause()
        return self._line

    def _pause(self) -> None:
        with self.arrived:
            self.stopped = True
            self.arrived.notify_all()
        self.may_go.wait()
        self.may_go.clear()


def interleave(tasks: Sequence[Callable[[], object]], seed: int) -> int:
    """Run tasks in threads, a few lines of one and then of another; return how often another one came."""
    arrived, choose, turns = threading.Condition(), random.Random(seed), 0
    threads = [_Thread(task, arrived) for task in tasks]
    for thread in threads:
        thread.start()
    while True:
        with arrived:
            arrived.wait_for(lambda: all(t.done for t in threads) or any(t.stopped and not t.done for t in threads))
            ready = [thread for thread in threads if thread.stopped and not thread.done]
        if not ready:
            break
        chosen, turns = choose.choice(ready), turns + 1
        for _ in range(choose.choice((1, 1, 2, 5, 20))):
            with arrived:
                chosen.stopped = False
                chosen.may_go.set()
                arrived.wait_for(lambda chosen=chosen: chosen.stopped or chosen.done, timeout=BLOCKED)
                if chosen.done or not chosen.stopped:
                    break
    for thread in threads:
        thread.join()
        if thread.problem is not None:
            raise thread.problem
    return turns
