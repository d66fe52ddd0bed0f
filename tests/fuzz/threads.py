"""Torture 5: eight threads on one model, every answer held against the order of events."""

import json
import os
import select
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from random import Random
from threading import Barrier, Lock, Thread
from typing import Any

import torch

from anacp.errors import MismatchError, NumericalError
from tests.contract.every_learner import every_learner
from tests.fuzz.histories import Change, History, Read, explained
from tests.fuzz.shared_models import OTHER, PER_THREAD, THREADS, SharedClassifier, SharedLearner, SharedModel
from tests.fuzz.tally import Tally, Tick, one_line, silent
from tests.fuzz.tiny import calm

HANG_SECONDS = 300.0
CLASSIFIER_SHARE = 0.02  # its operations run a network
MIX = {"labels": 46, "scores": 40, "probabilities": 4, "write": 6, "value": 2, "merge": 1, "save": 1}
SWITCHES = (5e-3, 1e-4, 1e-6)  # seconds until Python lets another thread come forward


def run(n: int, seed: int, *, one_at_a_time: bool = False, tick: Tick = silent) -> Tally:
    """Do n operations, over every learner and a classifier; each answer is one that the model can have given then.

    With `one_at_a_time` the operations exclude each other, so that a failure is one of this torture, or of the
    arithmetic.
    """
    calm()
    tally = Tally("threads", "operations", figures={"models": 0, "answers checked": 0, "undecided": 0})
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        makers: list[tuple[Callable[[], SharedModel], int]] = [
            (lambda: SharedClassifier(folder), int(n * CLASSIFIER_SHARE))
        ]
        learners = every_learner()
        each = (n - makers[0][1]) // len(learners) + 1
        makers += [(lambda one=one, i=i: SharedLearner(one, i), each) for i, one in enumerate(learners)]
        for make, operations in makers:
            _in_process(tally, lambda make=make, n=operations: tortured(make(), n, seed, folder, one_at_a_time), seed)
            tally.figures["models"] += 1
            tick(tally.attempts, n)
    return tally


def _in_process(tally: Tally, torture: Callable[[], Tally], seed: int) -> None:
    """Torture one model in a process that may hang; add what it found."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(readable)
            # torch replaces the pool that a fork has broken when a thread first asks for it, without a lock: of two
            # that ask at once, one may find none ("Invalid thread pool!"). So one asks before the others are there.
            torch.set_num_threads(1)
            found = json.dumps(torture().as_dict())
            with os.fdopen(writable, "w") as file:
                file.write(found)
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as file:
        ready, _, _ = select.select([readable], [], [], HANG_SECONDS)
        if not ready:
            os.kill(child, signal.SIGKILL)
        said = file.read()
    os.waitpid(child, 0)
    if not said:
        tally.fail("hang" if not ready else "crash", f"seed {seed}, model {tally.figures['models']}")
        return
    one = Tally.restored(json.loads(said))
    tally.attempts += one.attempts
    tally.refusals += one.refusals
    tally.kinds += one.kinds
    tally.failures += one.failures
    for name, number in one.figures.items():
        tally.figures[name] += number


def tortured(shared: SharedModel, operations: int, seed: int, folder: Path, one_at_a_time: bool = False) -> Tally:
    """Let threads loose on one model, then judge every answer, and the model in the end."""
    tally = Tally("threads", "operations", figures={"undecided": 0})
    history, model = History(), shared.fresh()
    history.changes = {batch: [] for batch in range(OTHER)}
    sys.setswitchinterval(Random(f"{seed} {shared.name}").choice(SWITCHES))
    barrier, errors, per_thread = Barrier(THREADS), [], -(-operations // THREADS)
    turn = Lock() if one_at_a_time else nullcontext()

    def work(thread: int) -> None:
        barrier.wait()
        draw = Random(f"threads {seed} {shared.name} {thread}")
        for number in range(per_thread):
            words = f"seed {seed} {shared.name} thread {thread} operation {number}"
            try:
                with turn:
                    _operation(shared, model, history, thread, draw, words, folder)
            except BaseException as problem:
                errors.append(f"{words}: {one_line(problem)}")

    threads = [Thread(target=work, args=(thread,), daemon=True) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(SWITCHES[0])
    tally.attempts = THREADS * per_thread
    for error in errors:
        tally.fail("error", error)
    end = history.now(), history.now()
    for kind in ("scores", "probabilities"):
        try:
            answer = shared.asked(kind, model)
            history.reads.append(Read(*end, kind, answer, frozenset(), f"seed {seed} {shared.name} in the end"))
        except BaseException as problem:
            tally.fail("error in the end", f"seed {seed} {shared.name}: {one_line(problem)}")
    for read in history.reads:
        found = explained(read, history, shared.value, shared.plausible, shared.fits)
        tally.figures["undecided"] += found is None
        if found is False:
            at_the_end = read.begin == end[0]
            tally.fail("other model in the end" if at_the_end else "wrong answer", f"{read.words}: {read.kind}")
    tally.figures["answers checked"] = len(history.reads)
    tally.refusals = len(history.refused)
    return tally


def _operation(
    shared: SharedModel, model: Any, history: History, thread: int, draw: Random, words: str, folder: Path
) -> None:
    what = draw.choices(list(MIX), list(MIX.values()))[0]
    if what == "write":
        _write(shared, model, history, thread, draw)
    elif what == "value" and thread == 0 and shared.values:  # one thread alone: then the order is known
        value, begin = draw.choice(shared.values), history.now()
        shared.set_value(model, value)
        history.values.append(Change(begin, history.now(), value))
    else:
        kind = what if what in ("labels", "probabilities") else "scores"
        begin, extra = history.now(), frozenset()
        source, closed = model, None
        if what == "merge":
            source, extra = _merged(shared, model), frozenset({OTHER})
        elif what == "save":
            path = folder / f"{shared.name}-{thread}.anacp"
            source = shared.saved(model, path)
        if source is not model:
            closed = history.now()  # what was taken of the model is fixed now
        answer = shared.asked(kind, source)
        end = history.now() if closed is None else closed
        history.reads.append(Read(begin, end, kind, answer, extra, f"{words} ({what})"))


def _write(shared: SharedModel, model: Any, history: History, thread: int, draw: Random) -> None:
    """Bring in or take out one of the batches that are this thread's alone."""
    batch = thread * PER_THREAD + draw.randrange(PER_THREAD)
    changes = history.changes[batch]
    inside = bool(changes) and changes[-1].value
    begin = history.now()
    try:
        (shared.remove if inside else shared.add)(model, batch)
    except NumericalError as problem:
        if not inside:
            raise
        history.refused.append(one_line(problem))  # it says that nothing has changed, and every later answer tries that
        return
    except BaseException:
        changes.append(Change(begin, sys.maxsize, not inside))  # it may have happened or not
        raise
    changes.append(Change(begin, history.now(), not inside))


def _merged(shared: SharedModel, model: Any) -> Any:
    while True:  # a parameter that changes while the other model is made ready is refused, rightly
        try:
            return shared.merged(model)
        except MismatchError:
            continue
