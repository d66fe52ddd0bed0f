"""Write requirements.lock: what constraints.txt pins, with the hash of every wheel that the package index has of it.

`make lock INDEX=address` after each change of constraints.txt, with the address of the index's list of packages (the
one that ends in /simple); needs the network and nothing but Python.
"""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"#sha256=([0-9a-f]{64})\"[^>]*>\s*([^<\s]+)\s*<")
# Builds of torch for other hardware have the same version and come from other places: it is pinned, but not hashed.
UNHASHED = {"torch"}
HEAD = """\
# What constraints.txt pins, with the hashes of the wheels on the package index, written by tools/lock.py.
# torch is missing on purpose: its builds for other hardware have the same version and come from other places.
"""


def pinned(text: str) -> dict[str, str]:
    """Return versions by names, as constraints.txt and requirements.lock have them."""
    return dict(re.findall(r"^([\w.-]+)==([\w.!+]+)", text, re.MULTILINE))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def hashes(index: str, name: str, version: str) -> list[str]:
    """Return the hashes of the wheels of a version; of its source where there is no wheel."""
    with urlopen(f"{index}/{normal(name)}/", timeout=60) as page:  # as HTML, which every index has
        files = {file: digest for digest, file in LINK.findall(page.read().decode())}
    own = {file: digest for file, digest in files.items() if _is(file, name, version)}
    wheels = [digest for file, digest in own.items() if file.endswith(".whl")]
    found = sorted(wheels or own.values())
    if not found:
        sys.exit(f"Expected {name}=={version} on {index}, got no such file.")
    return found


def _is(file: str, name: str, version: str) -> bool:
    """Say whether a file is of this version: NAME-VERSION-TAGS.whl, or NAME-VERSION.tar.gz."""
    if file.endswith(".whl"):
        own, found = file.split("-")[:2]
    else:
        own, _, found = re.sub(r"\.(tar\.gz|zip)$", "", file).rpartition("-")
    return (normal(own), found) == (normal(name), version)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1]:
        sys.exit("Expected the address of a package index, got none: make lock INDEX=address")
    index = sys.argv[1].rstrip("/")
    stated = pinned((ROOT / "constraints.txt").read_text())
    wanted = {name: version for name, version in stated.items() if name not in UNHASHED}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: hashes(index, *one), wanted.items()))
    entries = [
        " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{digest}" for digest in digests)])
        for (name, version), digests in zip(wanted.items(), found, strict=True)
    ]
    (ROOT / "requirements.lock").write_text(HEAD + "\n".join(entries) + "\n")
    print(f"{len(entries)} packages, {sum(map(len, found)):,} hashes")
