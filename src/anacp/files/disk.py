"""A disk that fails says so in one line, by the name of the file that was meant."""

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from anacp.errors import DiskError

# Something is not where it was: another process removed it, which is for the caller to judge.
OTHERS = {None, errno.ENOENT, errno.ENOTDIR, errno.EEXIST}
ADVICE = {
    errno.ENOSPC: "Make room on the disk, or write elsewhere.",
    errno.EDQUOT: "Make room within the quota, or write elsewhere.",
    errno.EFBIG: "Raise the limit of a file's size, or write elsewhere.",
    errno.EROFS: "That place can only be read: write elsewhere.",
    errno.EACCES: "Get the right to write there, or write elsewhere.",
    errno.EPERM: "Get the right to write there, or write elsewhere.",
    errno.EMFILE: "Too many files are open: close other programs, or raise the limit (ulimit -n).",
    errno.ENFILE: "Too many files are open: close other programs, or raise the limit (ulimit -n).",
    errno.ENOMEM: "Close other programs: there is no memory left.",
}


def advice(code: int | None) -> str:
    """Return what to do about an error of the system."""
    return ADVICE.get(code or 0, "Check the disk, or write elsewhere.")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says while `path` is written into one line that names it and says what to do."""
    try:
        yield
    except OSError as problem:
        if isinstance(problem, DiskError):
            raise
        if problem.errno in OTHERS:
            blocking = next((one for one in path.parents if one.exists() and not one.is_dir()), None)
            if blocking is None:
                raise
            raise DiskError(
                f"Expected to write {path}, got a file where there must be a folder: {blocking}. Write elsewhere."
            ) from problem
        said = DiskError(f"Expected to write {path}, got: {problem.strerror}. {advice(problem.errno)}")
        said.errno = problem.errno
        raise said from problem
