"""Builds wheel and source archive, and tries the wheel in a new environment far from the repository: make dist.

Every command runs there for real; one that is not in the list below is at least asked for its help, and named.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
EXTRAS = "images,reports,parquet,excel,hub"
LARGEST = 13_000_000  # bytes of a wheel, most of them the two embedded samples

PHOTOS = """
from pathlib import Path
from random import Random
from PIL import Image
for folder, numbers in (("photos", range(4)), ("more", range(4, 8)), ("test", range(8, 10))):
    for label, colour in {"blue": (30, 60, 220), "red": (210, 40, 40), "green": (40, 180, 60)}.items():
        place = Path(folder, label) if folder != "more" or label == "green" else None
        if place is None or (folder == "photos" and label == "green"):
            continue
        place.mkdir(parents=True, exist_ok=True)
        for number in numbers:
            draw = Random(f"{label} {number}")
            image = Image.new("RGB", (32, 32))
            image.putdata([tuple(c + draw.randint(-9, 9) for c in colour) for _ in range(32 * 32)])
            image.save(place / f"{number}.png")
"""
QUICK = ["--learner", "SLDA"]
COMMANDS = (
    ["learn", "photos", "--model", "m.anacp", *QUICK],
    ["learn", "more", "--model", "m.anacp", "--no-solve"],
    ["solve", "m.anacp"],
    ["predict", "m.anacp", "test/red/8.png", "--unknown"],
    ["evaluate", "m.anacp", "test", "--output", "report"],
    ["suspects", "m.anacp", "photos"],
    ["relabel", "m.anacp", "photos/red/0.png", "--label", "green"],
    ["rename", "m.anacp", "red", "crimson"],
    ["join", "m.anacp", "blue", "green", "--into", "cold"],
    ["undo", "m.anacp", "--steps", "3"],
    ["redo", "m.anacp"],
    ["history", "m.anacp"],
    ["forget", "m.anacp", "more"],
    ["learn", "more", "--model", "n.anacp", *QUICK],
    ["merge", "m.anacp", "n.anacp", "-o", "both.anacp"],
    ["export", "both.anacp", "-o", "both.onnx"],
    ["info", "both.anacp", "--classes"],
    ["demo", "--sample", "cifar100"],
    ["compare", "cifar100", "--methods", "NCM,SLDA", "--output", "compared"],
    ["run", "--dataset", "sample:cifar100", "--method", "NCM", "--tasks", "5", "--output", "ran"],
    ["reproduce", "table1", "--substitute", "--quick", "--dataset", "cifar100", "--methods", "SimpleCIL,SLDA"],
    ["report", "ran", "--output", "page.html"],
    ["datasets", "list"],
    ["features", "list"],
)


def environment(folder: Path) -> Path:
    """Return the Python of a new environment."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def run(*command: object, cwd: Path) -> str:
    """Run a command with nothing of this repository in reach, and return what it prints."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    variables["ANACP_HOME"] = str(cwd / "home")
    result = subprocess.run(list(map(str, command)), cwd=cwd, env=variables, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def install(python: Path, *what: object, cwd: Path) -> None:
    run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *what, cwd=cwd)


def build(folder: Path) -> tuple[Path, Path]:
    """Return a new wheel and source archive."""
    python = environment(folder / "build")
    install(python, "build", cwd=folder)
    shutil.rmtree(DIST, ignore_errors=True)
    run(python, "-m", "build", "--outdir", DIST, ROOT, cwd=folder)
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, source


def check_contents(wheel: Path, source: Path) -> None:
    """Refuse archives that lack something, or hold what nobody needs."""
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "anacp").rglob("*.py")}
    data = {"anacp/py.typed", "anacp/paper/numbers.json", "anacp/samples/clinc150.safetensors"}
    missing = (modules | data) - names
    strange = {name for name in names if not name.startswith(("anacp/", "anacp-"))}
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    missing |= {"README.md", "LICENSE", "pyproject.toml", "src/anacp/py.typed"} - inside
    size = wheel.stat().st_size
    if missing or strange or size > LARGEST:
        sys.exit(f"missing {sorted(missing)[:5]}, not wanted {sorted(strange)[:5]}, {size:,} bytes of {LARGEST:,}")
    print(f"{wheel.name}: {size:,} bytes, {len(names)} files; {source.name}: {source.stat().st_size:,} bytes")


def smoke(wheel: Path, folder: Path) -> None:
    """Install the wheel into a new environment, and run every command."""
    python = environment(folder / "new")
    install(python, "--constraint", ROOT / "constraints.txt", f"anacp[{EXTRAS}] @ {wheel.as_uri()}", cwd=folder)
    place = folder / "place"
    place.mkdir()
    run(python, "-c", PHOTOS, cwd=place)
    where = run(python, "-c", "import anacp; print(anacp.__file__)", cwd=place).strip()
    if not where.startswith(str(folder)):
        sys.exit(f"Expected the installed package, got {where}.")
    command = python.with_name("anacp")
    for arguments in COMMANDS:
        run(command, *arguments, cwd=place)
    listing = (
        "from anacp.cli.app import app as a; print(*[c.name or c.callback.__name__ for c in a.registered_commands])"
    )
    known = {*run(python, "-c", listing, cwd=place).split(), "datasets", "features"}
    asked = sorted(known - {arguments[0] for arguments in COMMANDS})
    for name in asked:
        run(command, name, "--help", cwd=place)
    print(
        f"{len(known) - len(asked)} commands ran in a new environment" + (f"; help of {', '.join(asked)}" * bool(asked))
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, source = build(folder)
        check_contents(wheel, source)
        smoke(wheel, folder)


if __name__ == "__main__":
    main()
