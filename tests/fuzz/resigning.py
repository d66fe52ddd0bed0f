"""Files that state nonsense but are signed as the library signs: only knowing what a model must be refuses them."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from anacp.adaptation.adaptation import ADAPTATION
from anacp.files import write_tensors
from anacp.learners import MODEL
from tests.fuzz.mutations import Changed
from tests.fuzz.subjects import Subject

RESIGNED = "signed again"
NOT_STATED = {"format", "format_version", "written_by", "digests", "header_digest"}  # the writer's own
ODD_VALUES: tuple[Any, ...] = ("no such thing", [1], {"a": 1}, float("nan"), None)

Header = dict[str, Any]
Tensors = dict[str, Tensor]
Nonsense = Callable[[Header, Tensors, Random], str | None]  # changes both; None where there is nothing to change


def resigned(subject: Subject, draw: Random, folder: Path) -> Changed:
    """Return the file with one nonsensical statement, as the library would write it."""
    header, tensors = read(subject.content, folder)
    while True:
        nonsense = draw.choice(NONSENSE)
        words = nonsense(header, tensors, draw)
        if words is not None:
            return signed(header, tensors, folder), f"{RESIGNED}, {words}"


def read(content: bytes, folder: Path) -> tuple[Header, Tensors]:
    """Return what a file states, and its tensors, whatever the library thinks of it."""
    path = folder / "read"
    path.write_bytes(content)
    with safe_open(path, framework="pt") as file:
        stated = {key: value for key, value in file.metadata().items() if key not in NOT_STATED}
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    return {key: json.loads(value) for key, value in stated.items()}, tensors


def signed(header: Header, tensors: Tensors, folder: Path) -> bytes:
    """Return the file that the library's own writer makes of these."""
    path = folder / "signed"
    write_tensors(path, ADAPTATION if "recipe" in header else MODEL, header, tensors)
    return path.read_bytes()


def _classes(header: Header, tensors: Tensors, draw: Random) -> str | None:
    if "classes" not in header:
        return None
    classes = header["classes"]
    ways = {
        "a class twice": [classes[0], *classes[:-1]],
        "fewer classes than counts": classes[:-1],
        "more classes than counts": [*classes, classes[-1] * 2],
        "no classes": [],
        "classes of two kinds": [*classes[:-1], {"a": 1}],
        "nested classes": [classes],
        "classes in a text": "abc",
        "no class but null": [None] * len(classes),
    }
    if "task_of" not in header:  # where the order of arrival is not kept
        ways["classes out of order"] = classes[::-1]
    way = draw.choice(sorted(ways))
    header["classes"] = ways[way]
    return way


def _classes_dtype(header: Header, tensors: Tensors, draw: Random) -> str | None:
    if "classes_dtype" not in header:
        return None
    odd = ["object", "|O", "nonsense", "|V8", "<M8[s]", "<c16", "i8,f4", 3, None, [], "<U100000000"]
    header["classes_dtype"] = draw.choice([*odd, "<U1"] if isinstance(header["classes"][0], str) else odd)
    return f"classes_dtype {header['classes_dtype']!r}"


def _sharpness(header: Header, tensors: Tensors, draw: Random) -> str | None:
    if "solution" not in header:
        return None
    header["solution"]["sharpness"] = draw.choice([*ODD_VALUES[:-1], float("inf"), -1.0])
    return f"sharpness {header['solution']['sharpness']!r}"


def _parameter(header: Header, tensors: Tensors, draw: Random) -> str | None:
    parameters = header.get("parameters", header.get("recipe"))
    name = draw.choice(sorted(parameters))
    odd = [*ODD_VALUES[:-1], -1] if name.startswith("n_") else ODD_VALUES[:-1]
    parameters[name] = draw.choice(odd)
    return f"{name} {parameters[name]!r}"


def _size(header: Header, tensors: Tensors, draw: Random) -> str | None:
    parameters = header.get("parameters", header.get("recipe"))
    sizes = ("n_projected", "n_heads", "n_members", "n_prompts", "length", "rank")
    named = [name for name in sizes if isinstance(parameters.get(name), int)]
    if not named:
        return None
    name = draw.choice(named)
    parameters[name] = draw.choice((10**6, 10**9, 10**15))
    return f"{name} {parameters[name]:.0e}"


def _unknown_parameter(header: Header, tensors: Tensors, draw: Random) -> str | None:
    header.get("parameters", header.get("recipe"))["no_such_parameter"] = 1
    return "a parameter that there is not"


def _width(header: Header, tensors: Tensors, draw: Random) -> str | None:
    if "n_features" not in header:
        return None
    header["n_features"] = draw.choice((*ODD_VALUES, 0, -1, header["n_features"] + 1, 10**9, 10**15))
    return f"n_features {header['n_features']!r}"


def _whole_key(header: Header, tensors: Tensors, draw: Random) -> str | None:
    # An unsolved model, or one of a first version, lacks some of these honestly; parameters that lack are defaults.
    key = draw.choice(sorted(header.keys() - {"solution", "saved"}))
    if key == "parameters" or draw.random() < 0.7:
        header[key] = draw.choice(["no such thing", 3, [1], [[]], float("nan"), None])
        return f"{key} is {header[key]!r}"
    del header[key]
    return f"no {key}"


def _inside_key(header: Header, tensors: Tensors, draw: Random) -> str | None:
    named = [key for key in ("backbone", "network", "adaptation", "solution") if isinstance(header.get(key), dict)]
    if not named:
        return None
    key = draw.choice(named)
    name = draw.choice(sorted(header[key]))
    if draw.random() < 0.5 and (key, name) != ("backbone", "adaptation"):
        del header[key][name]
        return f"{key} without {name}"
    header[key][name] = draw.choice(ODD_VALUES[:-1])
    return f"{key} with {name} {header[key][name]!r}"


def _tasks(header: Header, tensors: Tensors, draw: Random) -> str | None:
    if "task_of" not in header:
        return None
    key = draw.choice(("task_of", "n_tasks"))
    odd = {"task_of": [[], [0], [-1] * 3, [10**9] * 3, ["x"] * 3, [0.5] * 3], "n_tasks": [-1, "x", None, 10**12, []]}
    header[key] = draw.choice(odd[key])
    return f"{key} {header[key]!r}"


def _no_numbers(header: Header, tensors: Tensors, draw: Random) -> str | None:
    name = draw.choice(sorted(name for name, tensor in tensors.items() if tensor.is_floating_point()))
    if not tensors[name].numel():
        return None
    value = draw.choice((float("nan"), float("inf"), -float("inf")))
    tensors[name].view(-1)[draw.randrange(tensors[name].numel())] = value
    return f"{value} in {name}"


def _counts(header: Header, tensors: Tensors, draw: Random) -> str | None:
    named = [name for name in sorted(tensors) if name.endswith("counts") and tensors[name].numel()]
    if not named:
        return None
    name = draw.choice(named)
    tensors[name].view(-1)[0] = value = draw.choice((-1, 0, -(2**62)))
    return f"{name} of {value}"


def _shape(header: Header, tensors: Tensors, draw: Random) -> str | None:
    name = draw.choice(sorted(tensors))
    tensor = tensors[name]
    if not tensor.numel():
        return None
    ways = {
        "shorter": tensor[:-1] if tensor.ndim else tensor.new_zeros(0),
        "longer": torch.cat([tensor, tensor[-1:]]) if tensor.ndim else tensor.new_zeros(2),
        "empty": tensor.new_zeros(0),
        "flat": tensor.reshape(-1) if tensor.ndim > 1 else tensor.reshape(-1, 1),
        "with one dimension more": tensor[None],
    }
    if tensor.ndim > 1:
        ways["narrower"] = tensor[..., :-1]
    way = draw.choice(sorted(ways))
    tensors[name] = ways[way].contiguous()
    return f"{name} {way}"


def _dtype(header: Header, tensors: Tensors, draw: Random) -> str | None:
    name = draw.choice(sorted(tensors))
    now = tensors[name].dtype
    other = draw.choice([one for one in (torch.float64, torch.float16, torch.int64, torch.uint8) if one != now])
    tensors[name] = tensors[name].to(other)
    return f"{name} as {other}"


def _missing(header: Header, tensors: Tensors, draw: Random) -> str | None:
    name = draw.choice(sorted(tensors))
    del tensors[name]
    return f"no {name}"


def _wrong_method(header: Header, tensors: Tensors, draw: Random) -> str | None:
    key = "method" if "method" in header else "learner" if "learner" in header else None
    if key is None:
        return None
    own = header[key]
    header[key] = draw.choice([one for one in ("NCM", "FeCAM", "KLDA", "L2P", "SLCA", "NoSuch", "") if one != own])
    return f"{key} {header[key]!r}"


NONSENSE: tuple[Nonsense, ...] = (
    *(_classes, _classes_dtype, _sharpness, _parameter, _size, _unknown_parameter, _width, _whole_key, _inside_key),
    *(_tasks, _no_numbers, _counts, _shape, _dtype, _missing, _wrong_method),
)
