"""Pictures that are too large for what they are, and files that are none."""

import io
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from anacp.errors import DataFileError, ImageError
from anacp.items import ImageFile, hold, open_image

ROOT = Path(__file__).resolve().parents[2]


def png(path: Path, width: int, height: int) -> Path:
    """A picture that states its size and has next to no content."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
    return path


@pytest.mark.parametrize("size", [(10_000, 9_000), (20_000, 10_000), (2_000_000_000, 2_000_000_000)])
def test_a_bomb_is_refused_by_its_header(size: tuple[int, int], tmp_path: Path) -> None:
    """Above Pillow's limit, above twice that, and above any memory."""
    path = png(tmp_path / "bomb.png", *size)
    with pytest.raises(ImageError, match=r"at most 89,478,485 pixels, got .*bomb\.png.*ANACP_MAX_PIXELS"):
        open_image(path)
    with pytest.raises(DataFileError, match="at most 89,478,485 pixels"):
        ImageFile(path).open()


def test_the_limit_is_raised_and_lowered_by_one_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (20, 20)).save(tmp_path / "one.png")
    monkeypatch.setenv("ANACP_MAX_PIXELS", "399")
    with pytest.raises(ImageError, match="at most 399 pixels, got 20 x 20"):
        open_image(tmp_path / "one.png")
    monkeypatch.setenv("ANACP_MAX_PIXELS", "400")
    assert open_image(tmp_path / "one.png").size == (20, 20)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)  # what a program said; the person has the last word
    assert open_image(tmp_path / "one.png").size == (20, 20)


def test_a_picture_beyond_pillows_own_limit_can_be_opened(tmp_path: Path) -> None:
    """In a process of its own, since Pillow's limit is raised with ours; a warning would be an error."""
    Image.new("1", (20_000, 10_000)).save(tmp_path / "large.png")
    code = "import sys; from anacp.items import open_image; print(open_image(sys.argv[1]).size)"
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "large.png")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "ANACP_MAX_PIXELS": "200000000"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.stdout == "(20000, 10000)\n", ended.stderr


def test_a_file_too_large_to_be_an_image(tmp_path: Path) -> None:
    (tmp_path / "disk.png").touch()
    os.truncate(tmp_path / "disk.png", 10**12)
    for read in (open_image, lambda path: hold(path, "image")):
        with pytest.raises(ImageError, match=r"at most 200 MB, got 1 TB: .*disk\.png.*ANACP_MAX_FILE_BYTES"):
            read(tmp_path / "disk.png")


def test_a_pipe_and_a_device_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "endless.png").symlink_to("/dev/zero")
    for name, kind in (("pipe.png", "a named pipe"), ("endless.png", "a device")):
        for read in (open_image, lambda path: hold(path, "image")):
            with pytest.raises(ImageError, match=f"regular file, got {kind}.*{name}"):
                read(tmp_path / name)


def test_postscript_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n"
    )
    assert Image.open(io.BytesIO((tmp_path / "a.png").read_bytes())).format == "EPS"
    with pytest.raises(ImageError, match="PostScript is a program"):
        open_image(tmp_path / "a.png")
