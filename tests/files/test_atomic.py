"""Files appear whole or not at all, whatever is done to the writer and to its disk."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from anacp.files import atomic, locks, remove_folder, replacing, sweep_leftovers

ROOT = Path(__file__).resolve().parents[2]
HELD = """
import sys, time
from pathlib import Path
from anacp.files import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print("writing", flush=True)
    time.sleep(600)
"""


def writer(path: Path) -> subprocess.Popen[str]:
    """A process that is in the middle of writing."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, str(path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text)


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob(".*"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write(tmp_path / "folder" / "file", "before")
    return tmp_path / "folder" / "file"


def test_what_killed_writers_left_is_swept_by_the_next_one(file: Path) -> None:
    for _ in range(3):
        killed(writer(file))
    killed(writer(file.with_name("other")))
    assert len(hidden(file.parent)) == 2  # each sweeps what the one before left; the other file's is not its business
    assert file.read_text() == "before"
    write(file, "after")
    (left,) = hidden(file.parent)
    assert left.startswith(".other.")
    sweep_leftovers(file.parent)
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_what_a_living_writer_has_is_left_alone(file: Path) -> None:
    process = writer(file)
    try:
        (own,) = hidden(file.parent)
        write(file, "after")
        sweep_leftovers(file.parent)
        assert hidden(file.parent) == [own]
        assert (file.parent / own / "file").read_text() == "half"
    finally:
        killed(process)
    write(file, "again")
    assert hidden(file.parent) == []


def test_threads_do_not_take_each_others_for_leftovers(file: Path) -> None:
    """A folder is there a moment before it is locked; whoever loses it to a sweeper makes another."""
    problems: list[BaseException] = []
    ended = threading.Event()

    def work(number: int) -> None:
        try:
            for turn in range(150):
                write(file, f"{number} {turn} " + "x" * 1000)
                assert len(file.read_text()) > 1000
        except BaseException as problem:
            problems.append(problem)

    def sweep() -> None:
        while not ended.is_set():
            sweep_leftovers(file.parent)

    sweeper = threading.Thread(target=sweep)
    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in (sweeper, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    sweeper.join()
    assert problems == []
    assert hidden(file.parent) == []


def test_a_folder_taken_before_it_is_locked_is_made_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, made = atomic.tempfile.mkdtemp, []

    def and_lose_the_first(**options: str) -> str:
        made.append(make(**options))
        if len(made) == 1:
            sweep_leftovers(file.parent)
            assert not Path(made[0]).exists()
        return made[-1]

    monkeypatch.setattr(atomic.tempfile, "mkdtemp", and_lose_the_first)
    write(file, "after")
    assert (len(made), file.read_text(), hidden(file.parent)) == (2, "after", [])


def test_without_locks_nothing_is_swept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(writer(file))
    monkeypatch.setattr(locks, "fcntl", None)
    write(file, "after")
    assert file.read_text() == "after"
    assert len(hidden(file.parent)) == 1


def test_a_link_is_never_followed_to_be_swept(file: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    write(precious / "data", "mine")
    (file.parent / ".file.x.part").symlink_to(precious)
    write(file, "after")
    sweep_leftovers(file.parent)
    assert (precious / "data").read_text() == "mine"


def test_names_are_durable_before_they_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content, the folders that were made, and last the folder in which the name is new."""
    sync, synced = os.fsync, []

    def noted(handle: int) -> None:
        folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        name = os.readlink(f"/proc/self/fd/{handle}")
        synced.append((Path(name).relative_to(tmp_path).as_posix() if folder else "content", (path.exists())))
        sync(handle)

    path = tmp_path / "a" / "b" / "file"
    monkeypatch.setattr(os, "fsync", noted)
    write(path, "text")
    assert sorted(synced[:2]) == [(".", False), ("a", False)]
    assert synced[2:] == [("content", False), ("a/b", True)]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_that_cannot_sync_is_written_all_the_same(
    code: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(code, os.strerror(code))))
    write(file, "after")
    assert file.read_text() == "after"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_fails_to_sync_is_said(code: int, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(code, os.strerror(code))))
    with pytest.raises(OSError, match=os.strerror(code)):
        write(file, "after")
    assert (file.read_text(), hidden(file.parent)) == ("before", [])


def test_a_file_beyond_what_is_allowed_leaves_the_old_one(file: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # Python ignores the signal, and gets EFBIG
    try:
        with pytest.raises(OSError, match="too large"):
            write(file, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (file.read_text(), hidden(file.parent)) == ("before", [])


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_and_one_that_cannot_be_written(tiny_disk: Path) -> None:
    file = tiny_disk / "file"
    write(file, "before")
    with pytest.raises(OSError, match="No space left"):
        write(file, "x" * 100_000)
    assert (file.read_text(), hidden(tiny_disk)) == ("before", [])
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(OSError, match="Read-only"):
        write(file, "after")
    assert (file.read_text(), hidden(tiny_disk)) == ("before", [])


def test_permissions_are_the_usual_ones(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "file", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


REMOVED = """
import os, signal, sys
from pathlib import Path
from anacp.files import atomic, remove_folder
atomic.shutil.rmtree = lambda path: os.kill(os.getpid(), signal.SIGKILL)
remove_folder(Path(sys.argv[1]))
"""


def test_a_folder_whose_removal_was_killed_is_gone_and_then_swept(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name / "file", "text")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    code = subprocess.run([sys.executable, "-c", REMOVED, str(tmp_path / "one")], env=environment).returncode
    assert code == -signal.SIGKILL
    assert not (tmp_path / "one").exists()
    assert len(hidden(tmp_path)) == 1
    remove_folder(tmp_path / "two")
    remove_folder(tmp_path / "two")  # another process was quicker
    assert list(tmp_path.iterdir()) == []


SAVED = """
import os, random, signal, sys, time
from pathlib import Path
import torch
import anacp
from anacp.testing import blobs

torch.set_num_threads(1)
path, draw = Path(sys.argv[1]), random.Random(0)
model = anacp.NCM().partial_fit(*blobs(n_features=400))
start = time.perf_counter()
model.save(path)
once, left = time.perf_counter() - start, 0
for _ in range(40):
    child = os.fork()
    if not child:
        while True:
            model.save(path)
    time.sleep(draw.uniform(0, 5 * once))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    now = len(list(path.parent.glob(".*")))
    assert now <= 1, now  # what the one before left is swept
    left += now
    anacp.load(path).classes_
model.save(path)
print(left)
"""


def test_saves_that_are_killed_at_random_leave_nothing_behind(tmp_path: Path) -> None:
    """Models that are saved without end, and killed: 12 kills left 8 folders once."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SAVED, str(tmp_path / "model.anacp")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 0  # some were in the middle
    assert [path.name for path in tmp_path.iterdir()] == ["model.anacp"]
