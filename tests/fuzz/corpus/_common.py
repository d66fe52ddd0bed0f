"""What several cases need."""

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from threading import Thread
from typing import Any

import anacp
from anacp.cli.app import main
from anacp.errors import AnacpError
from tests.fuzz.resigning import Header, Tensors, read, signed
from tests.fuzz.subjects import CODES, NAMES, X


def refused(act: Callable[[], Any]) -> None:
    """Fail unless this is refused, in one line."""
    try:
        act()
    except AnacpError as problem:
        assert "\n" not in str(problem), f"several lines: {problem}"
        return
    raise AssertionError("nothing was refused")


def changed(folder: Path, model: Any, change: Callable[[Header, Tensors], Any]) -> Path:
    """Return a model's file in which something was changed, signed as the library signs."""
    path = folder / "model.anacp"
    model.save(path)
    header, tensors = read(path.read_bytes(), folder)
    change(header, tensors)
    path.write_bytes(signed(header, tensors, folder))
    return path


def refuses_use(path: Path) -> None:
    """Fail unless a model file is refused when it is loaded, or when it is first asked."""
    refused(lambda: anacp.load(path).predict_proba(X))


def solved() -> Any:
    """Return a small model with text labels, solved and calibrated."""
    return anacp.NCM().partial_fit(X, NAMES[CODES]).solve(probabilities=True)


def at_once(*acts: Callable[[], Any]) -> list[str]:
    """Do everything in threads of its own, and return what went wrong."""
    problems: list[str] = []

    def guarded(act: Callable[[], Any]) -> None:
        try:
            act()
        except BaseException as problem:
            problems.append(f"{type(problem).__name__}: {problem}")

    sys.setswitchinterval(1e-6)
    threads = [Thread(target=guarded, args=(act,), daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems


def command(*arguments: object, typed: str = "") -> tuple[int, str, str]:
    """Run a command; return its exit code, and what it printed and complained of."""
    sys.argv = ["anacp", *map(str, arguments)]
    printed, complained = io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, io.StringIO(typed)
    code = 0
    try:
        with redirect_stdout(printed), redirect_stderr(complained):
            main()
    except SystemExit as left:
        code = int(left.code or 0)
    except Exception as problem:
        code = 1
        complained.write(f"raw {type(problem).__name__}: {problem}\n")
    finally:
        sys.stdin = before
    return code, printed.getvalue(), complained.getvalue()
