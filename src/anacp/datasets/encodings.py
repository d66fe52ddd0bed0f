"""Texts in the encodings that programs write tables in, told apart by what they begin with and what decodes."""

import codecs

from anacp.errors import DataFileError

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is how it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
TRIED = 1000  # bytes in which every second one is 0 where a text in UTF-16 has no mark


def decoded(content: bytes, place: str) -> tuple[str, str]:
    """Return a text, and what had to be guessed about it; empty where nothing was."""
    encoding = next((encoding for mark, encoding in MARKS.items() if content.startswith(mark)), None) or _unmarked(
        content
    )
    try:
        if encoding is not None:
            return content.decode(encoding), ""
        if b"\0" in content:
            raise DataFileError(f"Expected a text, got bytes that are none: {place}. Give a table or a text file.")
        return content.decode("utf-8"), ""
    except UnicodeDecodeError as problem:
        if encoding is not None:
            raise DataFileError(
                f"Expected {encoding.upper()} as the file begins, got something else: {place} ({problem}). Save it as "
                "UTF-8."
            ) from problem
    try:
        return content.decode("cp1252"), f"{place} is no UTF-8: it was read as Latin-1 (Windows-1252)"
    except UnicodeDecodeError:
        return content.decode("latin-1"), f"{place} is no UTF-8: it was read as Latin-1"


def _unmarked(content: bytes) -> str | None:
    """Return which UTF-16 a text is in that has no mark: letters of most languages are a byte and a zero there."""
    even, odd = content[0:TRIED:2], content[1:TRIED:2]
    if len(odd) and odd.count(0) > 0.4 * len(odd) and even.count(0) == 0:
        return "utf-16-le"
    if len(even) and even.count(0) > 0.4 * len(even) and odd.count(0) == 0:
        return "utf-16-be"
    return None
