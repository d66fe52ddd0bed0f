"""Torture 1 and 2: files that were changed, at random and on purpose."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz.mutations import change_bytes, change_header
from tests.fuzz.resigning import RESIGNED, resigned
from tests.fuzz.subjects import Subject, subjects
from tests.fuzz.tally import Tally, Tick, silent
from tests.fuzz.tiny import calm
from tests.fuzz.trying import Case, outcomes

OTHERS = 6  # how much more often


def run_mutations(n: int, seed: int, *, tick: Tick = silent) -> Tally:
    """Change files in every way; each is refused in one line, or gives the honest answers to the bit."""

    def case(subject: Subject, draw: Random, folder: Path) -> Case:
        way = draw.choice(("bytes", "header", RESIGNED))
        if way == "bytes":
            return Case(subject, *change_bytes(subject.content, draw))
        if way == "header":
            return Case(subject, *change_header(subject.content, draw))
        return Case(subject, *resigned(subject, draw, folder))

    return _tried(Tally("mutated files", "files"), case, n, seed, {"refused", "same"}, tick)


def run_bit_flips(n: int, seed: int, *, tick: Tick = silent) -> Tally:
    """Flip one bit anywhere; each is found."""

    def case(subject: Subject, draw: Random, folder: Path) -> Case:
        place, bit = draw.randrange(len(subject.content)), draw.randrange(8)
        changed = bytearray(subject.content)
        changed[place] ^= 1 << bit
        return Case(subject, bytes(changed), f"bit {bit} of byte {place} flipped")

    return _tried(Tally("single-bit flips", "flips"), case, n, seed, {"refused"}, tick)


def _tried(
    tally: Tally,
    make: Callable[[Subject, Random, Path], Case],
    n: int,
    seed: int,
    good: set[str],
    tick: Tick,
) -> Tally:
    calm()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        honest = subjects(folder)
        # Learners are many, and their files much alike: those of other kinds are drawn more often.
        weights = [1 if subject.learner else OTHERS for subject in honest]

        def case(number: int) -> Case:
            draw = Random(f"{tally.name} {seed} {number}")
            return make(draw.choices(honest, weights)[0], draw, folder)

        tally.figures = {"subjects": len(honest), "largest memory MB": 0}
        for outcome in outcomes(case, n):
            tally.attempts += 1
            tally.figures["largest memory MB"] = max(tally.figures["largest memory MB"], outcome.memory >> 20)
            if outcome.kind == "refused":
                tally.refusals += 1
            if outcome.kind not in good:
                kind = "not found" if outcome.kind == "same" else outcome.kind
                tally.fail(kind, f"seed {seed} case {outcome.number}: {outcome.words}")
            tick(tally.attempts, n)
    return tally
