"""What the header of a model file says of an encoder, as data."""

from anacp.adaptation import ADAPTATION_FACTS
from anacp.encoders.choice import CHOICE
from anacp.encoders.origin import ORIGIN
from anacp.files import Fact, Record

ADAPTATION = "adaptation."  # what the names of an adaptation's tensors begin with in a model file
ENCODER = Record(
    {"backbone": ORIGIN},
    {"adaptation": ADAPTATION_FACTS | Record({"concatenate": Fact.flag()}), "layer_choice": CHOICE},
)
