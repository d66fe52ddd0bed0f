"""What the header of a file says of an adaptation, as data."""

from anacp.files import Fact, Record

_RATES = ("head_rate", "parts_rate", "momentum", "weight_decay", "final_rate")
# What a file must say of an adaptation.
ADAPTATION_FACTS = Record(
    {
        "recipe": Record(
            dict.fromkeys(("name", "parts", "optimizer"), Fact.name())
            | dict.fromkeys(("rank", "epochs", "batch_size"), Fact.whole(1))
            | dict.fromkeys(_RATES, Fact.share())
        ),
        "seed": Fact.whole(-(2**63), 2**64),
        "base": Fact.name(),
        "data": Fact.name(),
    }
)
