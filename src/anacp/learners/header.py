"""What the header of a model file says of a learner, as data."""

from anacp.files import Fact, FileKind, Record

MODEL = FileKind("anacp-model", 3, "an anacp model")
KINDS = ("learner", "classifier", "trained")
SOLUTION = "solution."
FAMILIARITY = "familiarity."

LABELS = Record({"classes": Fact("a list", lambda value: isinstance(value, list)), "classes_dtype": Fact.name()})
LEARNER = LABELS | Record(
    {
        "learner": Fact.name(),
        "parameters": Fact.record(),
        "n_features": Fact.whole(1),
        "feature_names": Fact.text().several,
    },
    {
        "kind": Fact.one_of(*KINDS),
        "features_from": Fact.name(),
        "solution": Record({"sharpness": Fact.number(above=0).or_nothing}, {"familiarity": Fact.flag()}),
    },
)
