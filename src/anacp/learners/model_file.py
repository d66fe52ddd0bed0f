"""A learner as the contents of a model file, and back: taken only if everything in it agrees."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from anacp.catalogue import entry_of
from anacp.errors import AnacpError
from anacp.files import Record, TensorFile
from anacp.learners.familiarity import Familiarity
from anacp.learners.header import FAMILIARITY, LEARNER, SOLUTION
from anacp.learners.knowledge import Knowledge
from anacp.learners.memory import Memory, UnreadStatistics
from anacp.learners.solution import Solved
from anacp.learners.stored_labels import sorted_labels
from anacp.statistics import NOTHING_LEFT, Statistic, is_coded, outlines

if TYPE_CHECKING:
    from anacp.learners.base import Learner

# A file in fewer bits has no solution of more bytes, unless it is wanted: solving again takes seconds.
LARGEST_SOLUTION = 8_000_000
LARGEST_COUNT = 2**53  # examples of a class, exact as a floating-point number too


def contents(
    learner: "Learner[Any]", *, exact: bool = True, solution: bool | None = None
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return header and tensors of a learner that nobody changes meanwhile; `restored` takes them back.

    Parameters
    ----------
    learner : Learner
        What is stored.
    exact : bool
        Keep every bit, instead of coding what is large in fewer.
    solution : bool, optional
        Keep the solution, if there is one. By default it is left out where coding saved more than it would cost.
    """
    known, entry = learner._known(), entry_of(type(learner))
    header = {
        "learner": entry.name if entry else type(learner).__name__,
        "parameters": learner.get_params() | {"device": "cpu"},
        "classes": known.memory.classes.tolist(),
        "classes_dtype": known.memory.classes.dtype.str,
        "n_features": learner.n_features_in_,
        "feature_names": getattr(learner, "feature_names_in_", np.empty(0)).tolist(),
    }
    if learner.features_from is not None:
        header["features_from"] = learner.features_from
    tensors = known.memory.tensors(ridges=None if exact else learner._ridges())
    solved = known.solved_with(learner.get_params())
    kept = solved.solution.tensors() if solved and solution is not False else {}
    if solution is None and _are_coded(tensors):
        size = sum(tensor.numel() * tensor.element_size() for tensor in kept.values())
        kept = kept if size <= LARGEST_SOLUTION else {}
    if solved and kept and _in_precision(learner, kept):
        header["solution"] = {"sharpness": solved.sharpness}
        tensors |= {f"{SOLUTION}{name}": tensor for name, tensor in kept.items()}
        if solved.familiarity:
            header["solution"]["familiarity"] = True
            parts = solved.familiarity.arrays().items()
            tensors |= {f"{FAMILIARITY}{name}": torch.from_numpy(np.ascontiguousarray(part)) for name, part in parts}
    return header, tensors


def _are_coded(tensors: Mapping[str, Tensor]) -> bool:
    return is_coded({name.rpartition(".")[2]: tensor for name, tensor in tensors.items()})


def _in_precision(learner: "Learner[Any]", solution: Mapping[str, Tensor]) -> bool:
    """Say whether a solution is in the learner's precision; one that extreme features made wider is solved anew."""
    sizes = learner.n_features_in_, len(learner._knowledge.memory.classes)
    outline = learner._outline(*sizes)
    if outline is None:
        return True
    known = {**(learner._former_outline(*sizes) or {}), **outline}
    return all(tensor.dtype == known[name].dtype for name, tensor in solution.items())


def restored(
    cls: "type[Learner[Any]]",
    file: TensorFile,
    *,
    device: str = "cpu",
    facts: Record | None = None,
    outlines: Mapping[str, Tensor] | None = None,
) -> "Learner[Any]":
    """Return the learner of a model file; its statistics, most of the file, are read when they are needed first.

    The header says what the learner is, and that says which tensors there must be: a file in which anything else is
    found is refused before a tensor is read.

    Parameters
    ----------
    cls : type
        What the file says that it is.
    file : TensorFile
        The open file.
    device : str
        Where the tensors go.
    facts, outlines : optional
        What the header and the tensors are besides a learner's.
    """
    file.check_header(LEARNER | facts if facts else LEARNER)
    header = file.header
    learner = _untaught(cls, file, device)
    learner.n_features_in_ = header["n_features"]
    if header["feature_names"]:
        learner.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    learner.features_from = header.get("features_from")
    classes = sorted_labels(file)
    empty = _check_tensors(learner, file, len(classes), outlines or {})
    _counts(file)  # a few numbers, and wrong ones would not show before something else is read
    statistics = UnreadStatistics(file, empty, device, lambda name: _read(file, name, empty[name], len(classes)))
    memory = Memory(statistics, classes, device)
    learner._knowledge = Knowledge(memory, learner.get_params())
    if "solution" in header:
        tensors = {name: tensor.to(device) for name, tensor in file.tensors(SOLUTION).items()}
        try:
            solution = learner._restored(tensors, memory)
        except (KeyError, TypeError, ValueError, RuntimeError) as problem:
            raise file.damage(f"its solution is not one of {cls.__name__}: {problem}") from problem
        sharpness, familiarity = header["solution"]["sharpness"], _restored_familiarity(learner, file, len(classes))
        learner._knowledge.solved = Solved(solution, learner.get_params(), sharpness, familiarity)
    return learner


def _restored_familiarity(learner: "Learner[Any]", file: TensorFile, n_classes: int) -> Familiarity | None:
    if not file.header["solution"].get("familiarity"):
        return None
    found = file.sizes(FAMILIARITY).get("background", ())
    outline = Familiarity.outline(learner.n_features_in_, n_classes, learner.dtype, found=found)
    try:
        return Familiarity.restored(file.arrays(FAMILIARITY), outline)
    except ValueError as problem:
        raise file.damage(problem) from problem


def _untaught(cls: "type[Learner[Any]]", file: TensorFile, device: str) -> "Learner[Any]":
    """Return the learner with the parameters that the file states, if these are its own, and within their ranges.

    A parameter that the file does not state came with a later version: it has its default, or what held before.
    """
    stated = file.header["parameters"]
    foreign = stated.keys() - set(cls._get_param_names())
    if foreign:
        raise file.damage(f"its parameters are not those of {cls.__name__}: {sorted(foreign)[:3]}")
    if not isinstance(stated.get("device", ""), str):
        raise file.damage("parameters.device is not a text")
    try:
        learner = cls(**{**cls._before_stated, **stated, "device": device})
        learner._check_parameters()
    except (AnacpError, TypeError, ValueError, ArithmeticError) as problem:
        raise file.damage(problem) from problem
    return learner


def _check_tensors(
    learner: "Learner[Any]", file: TensorFile, n_classes: int, beside: Mapping[str, Tensor]
) -> dict[str, Statistic]:
    """Return the learner's statistics without their numbers, if the tensors of the file are just theirs."""
    try:
        empty = learner._statistics(learner.n_features_in_, "meta")
        expected = {
            f"{name}.{part}": outline
            for name, statistic in empty.items()
            for part, outline in outlines(statistic, n_classes, file.sizes(f"{name}.")).items()
        }
        if file.outlines("moments.")["counts"].dtype == torch.float64:  # weights were no whole numbers
            expected |= {name: one.double() for name, one in expected.items() if name.endswith(".counts")}
        solution = _solution_outline(learner, file, n_classes) if "solution" in file.header else {}
    except (RuntimeError, ValueError, TypeError, LookupError, OverflowError) as problem:  # sizes beyond any tensor
        raise file.damage(f"no such {type(learner).__name__} can be: {problem}") from problem
    if solution is None:  # a method that does not say: whatever the file has
        solution = file.outlines(SOLUTION)
    named = {f"{SOLUTION}{name}": one for name, one in solution.items()}
    if file.header.get("solution", {}).get("familiarity"):
        found = file.sizes(FAMILIARITY).get("background", ())
        outline = Familiarity.outline(learner.n_features_in_, n_classes, learner.dtype, found=found)
        named |= {
            f"{FAMILIARITY}{name}": learner._sized(*shape, dtype=getattr(torch, dtype))
            for name, (shape, dtype) in outline.items()
        }
    file.check_tensors({**expected, **named, **beside})
    return empty


def _solution_outline(learner: "Learner[Any]", file: TensorFile, n_classes: int) -> Mapping[str, Tensor] | None:
    """Return what the solution is to be: as it is kept now, or as it was if the file has just that."""
    former = learner._former_outline(learner.n_features_in_, n_classes)
    if former is not None and file.sizes(SOLUTION) == {name: tuple(one.shape) for name, one in former.items()}:
        return former
    return learner._outline(learner.n_features_in_, n_classes)


def _read(file: TensorFile, name: str, empty: Statistic, n_classes: int) -> dict[str, Tensor]:
    """Return the tensors of one statistic, if their numbers can be: counts that agree, classes that there are."""
    tensors = file.tensors(f"{name}.")
    counts = tensors.get("counts")
    if counts is None and "classes" in tensors:
        codes = tensors["classes"]
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < n_classes:
            raise file.damage(f"{name}.classes are not all among its {n_classes} classes")
        counts = torch.bincount(codes, minlength=n_classes)
    if counts is None:
        return tensors
    if bool((counts < 0).any()) or bool((counts > LARGEST_COUNT).any()):
        raise file.damage(f"{name} counts what cannot be counted")
    every = _counts(file)
    whole = getattr(empty, "fold", "all") == "all"
    more, other = counts > every * (1 + NOTHING_LEFT), counts < every * (1 - NOTHING_LEFT)
    if bool(more.any() or (whole and other.any())):
        raise file.damage(f"{name} counts other examples than moments.counts")
    return tensors


def _counts(file: TensorFile) -> Tensor:
    """Return how many examples of each class the file was learned from."""
    counts = file.tensors("moments.counts")[""]
    if bool((counts < 0).any()) or bool((counts > LARGEST_COUNT).any()):
        raise file.damage("moments counts what cannot be counted")
    if bool((counts <= 0).any()):
        raise file.damage("moments.counts has a class without examples")
    return counts
