"""Cases tried one after the other in a process of their own, which may hang, fall over, or ask for too much memory."""

import json
import os
import resource
import select
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from anacp.errors import AnacpError
from tests.fuzz.subjects import Subject
from tests.fuzz.tally import one_line

HANG_SECONDS = 20.0  # of no news; a case takes some milliseconds
HEADROOM = 1 << 30  # of address space above what the process has: absurd requests fail at once
SLACK = 16 << 20  # of memory beyond twice the honest use: what allocators and first imports take by themselves


@dataclass(frozen=True)
class Case:
    """A changed file."""

    subject: Subject
    content: bytes
    change: str


@dataclass(frozen=True)
class Outcome:
    """How it ended: "refused", "same", or one of the failures."""

    number: int
    kind: str
    words: str
    memory: int = 0  # bytes taken beyond what there was


def outcomes(cases: Callable[[int], Case], n: int) -> Iterator[Outcome]:
    """Try cases 0 … n - 1; whatever kills or blocks the process costs one case."""
    number = 0
    while number < n:
        for outcome in _from_process(cases, range(number, n)):
            number = outcome.number + 1
            yield outcome


def _from_process(cases: Callable[[int], Case], numbers: range) -> Iterator[Outcome]:
    """Yield the outcomes of one process up to its end; if that is not the last, its death is the last outcome."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.close(readable)
        _work(cases, numbers, writable)
    os.close(writable)
    done, waiting = numbers.start, b""
    try:
        while done < numbers.stop:
            ready, _, _ = select.select([readable], [], [], HANG_SECONDS)
            news = os.read(readable, 1 << 16) if ready else b""
            if not news:
                what = "the process fell over" if ready else f"no answer in {HANG_SECONDS:.0f} s"
                case = cases(done)
                yield Outcome(done, "crash" if ready else "hang", f"{case.subject.name}, {case.change}: {what}")
                return
            *lines, waiting = (waiting + news).split(b"\n")
            for line in lines:
                yield Outcome(*json.loads(line))
            done += len(lines)
    finally:
        os.close(readable)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _work(cases: Callable[[int], Case], numbers: range, writable: int) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        size = status("VmSize") + HEADROOM
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        honest: dict[str, int] = {}
        for number in numbers:
            case = cases(number)
            if case.subject.name not in honest:
                unchanged = Case(case.subject, case.subject.content, "nothing")
                judged(folder, unchanged, 0)  # the first use takes what is kept afterwards
                honest[case.subject.name] = judged(folder, unchanged, 0)[2]
            kind, words, memory = judged(folder, case, 2 * honest[case.subject.name] + SLACK)
            words = f"{case.subject.name}, {case.change}: {words}"
            os.write(writable, json.dumps([number, kind, words, memory]).encode() + b"\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def judged(folder: Path, case: Case, allowed: int) -> tuple[str, str, int]:
    """Use a changed file; return the kind of the outcome, the words for it, and the bytes it took."""
    path = folder / "case"
    path.unlink(missing_ok=True)
    path.write_bytes(case.content)
    before = _forget_peak()
    kind, words = "same", ""
    try:
        for answer, honest in zip(case.subject.use(path), case.subject.answers, strict=True):
            if answer != honest:
                kind, words = "silent change", "other answers than the honest file's"
                break
    except AnacpError as problem:
        lines = str(problem).count("\n") + 1
        kind, words = ("refused" if lines == 1 else "several lines"), one_line(problem)
    except BaseException as problem:  # also what Rust throws
        memory = isinstance(problem, MemoryError) or "allocate memory" in str(problem)
        kind, words = ("memory" if memory else "raw exception"), one_line(problem)
    taken = status("VmHWM") - before
    if allowed and taken > allowed:
        kind, words = "memory", f"took {taken >> 20} MB, and then: {kind} {words}"
    return kind, words, taken


def _forget_peak() -> int:
    """Begin to measure anew, and return the memory in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def status(name: str) -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024
