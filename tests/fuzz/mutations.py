"""Ways to change a file without signing it again: its bytes, and the parts of its header."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

Changed = tuple[bytes, str]

DEEP = "[" * 100_000 + "]" * 100_000
ODD: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 3, 10**9, 10**30, -(10**30), 0.5, -0.0, 1e308, float("nan"), float("inf")),
    *("", "x", "NaN", "\x00", "\u202e", "é" * 300, "a" * 100_000, "../../etc/passwd", "hf:/nowhere", "NCM", "<U1"),
    *([], {}, [[]], [None], {"a": {"b": []}}, [1, 2, 3], ["a", "b"], [0, 10**12], "F64", "I64", "BF16", "float64"),
)


def change_bytes(content: bytes, draw: Random) -> Changed:
    """Return the file with some bytes changed, most often in its header, where they mean most."""
    length = 8 + int.from_bytes(content[:8], "little")
    place = draw.randrange(length if draw.random() < 0.5 else len(content))
    size = draw.choice((1, 1, 2, 4, 8, 32, 200))
    name = draw.choice(sorted(BYTES))
    changed = BYTES[name](content, place, size, draw)
    if changed == content:  # a change that is none tries nothing
        name, changed = "flip", BYTES["flip"](content, place, 1, draw)
    return changed, f"{name} of {size} at byte {place}"


def _flip(content: bytes, place: int, size: int, draw: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(size):
        changed[draw.randrange(place, len(content))] ^= 1 << draw.randrange(8)
    return bytes(changed) if bytes(changed) != content else content[:place] + bytes([content[place] ^ 1])


def _copy(content: bytes, place: int, size: int, draw: Random) -> bytes:
    source = draw.randrange(len(content))
    part = content[source : source + size]
    return content[:place] + part + content[place + len(part) :]


BYTES: dict[str, Callable[[bytes, int, int, Random], bytes]] = {
    "flip": _flip,
    "insertion": lambda content, place, size, draw: content[:place] + draw.randbytes(size) + content[place:],
    "deletion": lambda content, place, size, draw: content[:place] + content[place + size :],
    "truncation": lambda content, place, size, draw: content[:place],
    "splice": _copy,
    "zeroes": lambda content, place, size, draw: (
        content[:place] + bytes(len(content[place : place + size])) + content[place + size :]
    ),
    "ones": lambda content, place, size, draw: (
        content[:place] + b"\xff" * len(content[place : place + size]) + content[place + size :]
    ),
    "duplicate": lambda content, place, size, draw: content[:place] + content[place : place + size] + content[place:],
    "appendix": lambda content, place, size, draw: content + draw.randbytes(size),
}


def change_header(content: bytes, draw: Random) -> Changed:
    """Return the file with another header, which is whole as JSON."""
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    where = draw.choice(("metadata", "metadata", "tensor"))
    words = _change_tensor(header, draw) if where == "tensor" else _change_metadata(header["__metadata__"], draw)
    text = json.dumps(header, ensure_ascii=False)
    if draw.random() < 0.05:  # a key that is there twice
        name = draw.choice(sorted(header))
        text = f"{text[:-1]}, {json.dumps(name)}: {json.dumps(header[name])}}}"
        words += f", {name} twice"
    raw = text.encode("utf-8", "replace")
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw + data, words


def _change_tensor(header: dict[str, Any], draw: Random) -> str:
    name = draw.choice(sorted(header.keys() - {"__metadata__"}))
    entry = header[name]
    way = draw.choice(("part", "part", "remove", "rename", "swap"))
    if way == "remove":
        del header[name]
    elif way == "rename":
        header[f"{name}x"] = header.pop(name)
    elif way == "swap":
        other = draw.choice(sorted(header.keys() - {"__metadata__"}))
        header[name], header[other] = header[other], entry
        return f"tensors {name} and {other} swapped"
    else:
        key = draw.choice(("dtype", "shape", "data_offsets"))
        values = {
            "dtype": ["F64", "F32", "I64", "F16", "U8", "BOOL", "F8_E4M3", "Q4", 3, None],
            "shape": [[], [0], [10**9], [-1], [1, *entry["shape"]], entry["shape"][::-1], [2**40, 2**40], "x"],
            "data_offsets": [[0, 0], [0, 2**62], [8, 0], [entry["data_offsets"][0], 10**9], [-8, 0], []],
        }
        entry[key] = draw.choice(values[key])
        return f"{key} of tensor {name} is {entry[key]!r}"
    return f"{way} of tensor {name}"


def _change_metadata(metadata: dict[str, Any], draw: Random) -> str:
    key = draw.choice(sorted(metadata))
    way = draw.choice(("inside", "inside", "inside", "text", "remove", "rename", "deep", "type"))
    if way == "inside":
        try:
            value = json.loads(metadata[key])
        except ValueError:
            value = metadata[key]
        changed, words = changed_inside(value, draw)
        metadata[key] = json.dumps(changed)
        return f"{key}: {words}"
    if way == "remove":
        del metadata[key]
    elif way == "rename":
        metadata[f"{key}_"] = metadata.pop(key)
    elif way == "deep":
        metadata[key] = DEEP
    elif way == "type":
        metadata[key] = draw.choice((None, 3, [], {}))  # safetensors knows texts only
    else:
        metadata[key] = draw.choice(("", "{", "nul", "1e999", "[1,", '"\\ud800"', "9" * 5000, "NaN", " " * 1000))
    return f"{way} of {key}"


def changed_inside(value: Any, draw: Random) -> tuple[Any, str]:
    """Return a JSON value with one value anywhere inside changed, removed, renamed or wrapped."""
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice(sorted(value))
        way = draw.choice(("into", "into", "into", "remove", "rename", "add"))
        if way == "into":
            inner, words = changed_inside(value[key], draw)
            return {**value, key: inner}, f"{key}: {words}"
        rest = {name: one for name, one in value.items() if name != key}
        if way == "remove":
            return rest, f"{key} removed"
        added = {f"{key}_": value[key]}
        return (rest if way == "rename" else value) | added, f"{key} {way}d to {key}_"
    if isinstance(value, list) and value and draw.random() < 0.7:
        place = draw.randrange(len(value))
        way = draw.choice(("into", "remove", "again"))
        if way == "into":
            inner, words = changed_inside(value[place], draw)
            return [*value[:place], inner, *value[place + 1 :]], f"[{place}]: {words}"
        between = [] if way == "remove" else [value[place]] * 2
        return [*value[:place], *between, *value[place + 1 :]], f"[{place}] {way}"
    odd = draw.choice(ODD)
    return odd, f"{repr(odd)[:40]} instead of {repr(value)[:40]}"
