"""Who waits for the model to change: requests that want to see what was taught just now, and pages that follow."""

from __future__ import annotations

import asyncio

from anacp.serve.service import Service


class Follower:
    """The versions of a service, for coroutines of one event loop."""

    def __init__(self, service: Service) -> None:
        self.version, self.solved = service.state.version, service.snapshot.version
        self._service = service
        self._changed = asyncio.Event()

    def follow(self) -> None:
        """Begin to listen, from inside the loop."""
        loop = asyncio.get_running_loop()

        def told(version: int, solved: int) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._note, version, solved)

        self._service.listen(told)

    def _note(self, version: int, solved: int) -> None:
        self.version, self.solved = max(self.version, version), max(self.solved, solved)
        waiting, self._changed = self._changed, asyncio.Event()
        waiting.set()

    async def solved_at(self, version: int, seconds: float, *, early: bool = False) -> bool:
        """Wait until a version, or a later one, answers, early or settled; say whether it does."""
        try:
            async with asyncio.timeout(seconds):
                while self._service.answering(early=early).version < version:
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def change(self, seconds: float) -> bool:
        """Wait for the next change; say whether there was one."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True
