"""What the header of a model file says, by the kind of model, as data."""

from typing import Literal, cast

from anacp.encoders import ENCODER, ORIGIN
from anacp.files import Fact, Record, TensorFile
from anacp.learners import KINDS, LABELS, LEARNER

# What a model file says of a classifier besides its learner.
ANYTHING = Fact("a list", lambda value: isinstance(value, list))
STEP = Record(
    {
        "what": Fact.one_of("learn", "forget", "merge", "relabel", "rename", "join"),
        "when": Fact.name(),
        "n": Fact.whole(0),
        "source": Fact.text().or_nothing,
        "classes": ANYTHING,
        "undo": Fact.one_of("examples", "names", "model").or_nothing,
        "labels": ANYTHING,
    }
)
CLASSIFIER = ENCODER | Record(
    {"saved": Fact.name()},
    {"journal": Record({"n_earlier": Fact.whole(0), "steps": STEP.several}, {"undone": STEP.several})},
)
TRAINED_KIND = "trained"
TRAINED = LABELS | Record(
    {
        "method": Fact.name(),
        "parameters": Fact.record(),
        "network": ORIGIN,
        "task_of": Fact.whole(0).several,
        "n_tasks": Fact.whole(0, 100_000),
    },
    {"kind": Fact.one_of(TRAINED_KIND)},
)
ModelKind = Literal["learner", "classifier", "trained"]


def model_kind(file: TensorFile) -> ModelKind:
    """Return what a model file states that it is; files of the first version show it by what they have."""
    header = file.header
    if "kind" in header or file.sealed:
        if header.get("kind") not in KINDS:
            raise file.damage(f"its kind is none of {', '.join(KINDS)}")
        return cast(ModelKind, header["kind"])
    return "trained" if "method" in header else "classifier" if "backbone" in header else "learner"


def check_model_header(file: TensorFile) -> ModelKind:
    """Return the kind of a model file whose header says all that it must, and nothing else."""
    kind = model_kind(file)
    file.check_header({"learner": LEARNER, "classifier": LEARNER | CLASSIFIER, "trained": TRAINED}[kind])
    return kind
