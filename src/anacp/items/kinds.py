"""What a file is, told by how it begins: cameras, phones and web pages name files as they like."""

LONGEST_HEAD = 64  # bytes that tell
_STARTS = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"GIF87a": "GIF",
    b"GIF89a": "GIF",
    b"BM": "BMP",
    b"II*\x00": "TIFF",
    b"MM\x00*": "TIFF",
    b"II+\x00": "TIFF",
    b"MM\x00+": "TIFF",
    b"\x00\x00\x00\x0cjP  \r\n": "JPEG 2000",
}
# Brands of the container that phones write, ISO/IEC 23008-12 and the AVIF specification.
_HEIF = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}
_AVIF = {b"avif", b"avis"}


def picture_kind(head: bytes) -> str | None:
    """Return what kind of picture begins so; None if none does that could be read."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    if head[:1] == b"P" and head[1:2] in b"123456" and head[2:3].isspace():
        return "PPM"
    if head[4:8] == b"ftyp":
        brands = {head[place : place + 4] for place in (8, *range(16, len(head) - 3, 4))}
        return "AVIF" if brands & _AVIF else "HEIF" if brands & _HEIF else None
    found = next((kind for start, kind in _STARTS.items() if head.startswith(start)), None)
    # Two letters begin many a file; the four bytes at 6 are reserved, and 0.
    return None if found == "BMP" and head[6:10] != bytes(4) else found
