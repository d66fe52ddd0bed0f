"""What methods are compared on; runs that differ in more than the seed are never averaged."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anacp.experiments import RunResult

# Keys of a protocol that change from seed to seed; runs that differ in nothing else are averaged.
OF_THE_SEED = ("seed", "order_seed", "classes", "class_order")

QUICK = "Quick: small projections and one seed, to see the shape of the table and not its numbers."

# Names as people write them; any other stays as it is.
TITLES = {
    "cifar100": "CIFAR-100",
    "clinc150": "CLINC150",
    "cub-200-2011": "CUB-200-2011",
    "dinov2-base": "DINO-v2 base",
    "dinov2-large": "DINO-v2 large",
    "dinov2-small": "DINO-v2 small",
    "efficientnet-lite0": "EfficientNet-Lite0",
    "efficientnet-lite0-mirrored": "EfficientNet-Lite0, mirrored",
    "efficientnet-lite1": "EfficientNet-Lite1",
    "efficientnet-lite2": "EfficientNet-Lite2",
    "imagenet-r": "ImageNet-R",
    "minilm-l6": "MiniLM",
    "mocov3-base": "MoCo-v3 base",
    "mpnet-base": "MPNet base",
    "stanford-cars": "Stanford Cars",
    "stanford-cars-190": "190 Stanford Cars",
    "tiny-imagenet": "Tiny ImageNet",
}


@dataclass(frozen=True)
class Setting:
    """What methods are compared on: the data, the backbone and the protocol, and whose numbers belong beside it."""

    dataset: str
    backbone: str | None  # what made the features, where that is known
    protocol: str  # JSON of what does not change from seed to seed
    column: str | None  # of the paper
    quick: bool
    substitute: str | None  # what it stands in for, in words
    note: str  # why
    label: str

    @property
    def label_of_substitute(self) -> str | None:
        """The plain words that go wherever numbers of a substitute are shown."""
        return None if self.substitute is None else f"Substitute for {self.substitute}: {self.label} instead."


def settings_of(runs: Sequence[RunResult]) -> dict[Path, Setting]:
    """Return the setting of each run, by its folder."""
    facts = {run.folder: (_name(run), _protocol(run.protocol)) for run in runs}
    protocols: dict[str, list[str]] = {}
    for name, protocol in dict.fromkeys(facts.values()):
        protocols.setdefault(name, []).append(protocol)
    settings: dict[Path, Setting] = {}
    for run in runs:
        name, protocol = facts[run.folder]
        besides = [_difference(protocol, protocols[name])] if len(protocols[name]) > 1 else []
        besides += ["quick"] if run.quick else []
        words = run.substitute or {}
        settings[run.folder] = Setting(
            dataset=_data_title(run),
            backbone=_backbone_title(run),
            protocol=protocol,
            column=run.paper.column if run.paper else None,
            quick=run.quick,
            substitute=words.get("for"),
            note=words.get("note") or "",
            label=f"{name} ({', '.join(besides)})" if besides else name,
        )
    return settings


def caption_of(text: str, settings: Sequence[Setting]) -> str:
    """Return a caption that says first, wherever numbers of a substitute or a quick run are shown, that they are."""
    labels = dict.fromkeys(label for setting in settings if (label := setting.label_of_substitute))
    quick = [QUICK] if any(setting.quick for setting in settings) else []
    return " ".join([*labels, *quick, text])


def what_was_run(settings: Sequence[Setting]) -> str:
    """Return the backbones and data that were run, in a few words for a heading: "with MiniLM on CLINC150"."""
    data: dict[str | None, list[str]] = {}
    for backbone, dataset in dict.fromkeys((setting.backbone, setting.dataset) for setting in settings):
        data.setdefault(backbone, []).append(dataset)
    given = [f"on {_and(names)}" for backbone, names in data.items() if backbone is None]
    made = [f"{backbone} on {_and(names)}" for backbone, names in data.items() if backbone is not None]
    said = _and([*([f"with {_and(made)}"] if made else []), *given])
    return f"{said}, quick" if any(setting.quick for setting in settings) else said


def _and(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])


def _name(run: RunResult) -> str:
    backbone = _backbone_title(run)
    return f"{backbone} on {_data_title(run)}" if backbone else _data_title(run)


def _data_title(run: RunResult) -> str:
    name = str(run.dataset["name"])
    title = TITLES.get(name.removeprefix("sample:"), name.removeprefix("sample:"))
    return f"the {title} sample" if name.startswith("sample:") else title


def _backbone_title(run: RunResult) -> str | None:
    name = run.made_by.get("name")
    return None if name is None else TITLES.get(str(name), str(name))


def _protocol(protocol: Mapping[str, Any]) -> str:
    def of_all_seeds(entry: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in entry.items() if key not in OF_THE_SEED}
        if not isinstance(kept.get("order", ""), str):
            kept["order"] = "explicit"
        return {key: of_all_seeds(value) if isinstance(value, Mapping) else value for key, value in kept.items()}

    return json.dumps(of_all_seeds(protocol), sort_keys=True, ensure_ascii=False)


def _difference(protocol: str, others: Sequence[str]) -> str:
    """Say in what a protocol differs from the others of the same data."""
    loaded = [json.loads(other) for other in others]
    own = json.loads(protocol)
    keys = sorted({key for other in loaded for key in other if any(each.get(key) != other[key] for each in loaded)})
    words = [f"{own[key]} tasks" if key == "n_tasks" else f"{key} {own[key]}" for key in keys if key in own]
    return ", ".join(words) or "as given"
