"""A classifier that goes to the Hugging Face Hub and comes back, in the Hub's own form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from anacp.backbones import EngineName
from anacp.errors import ParameterError, UnavailableError
from anacp.methods.classifier import Classifier
from anacp.version import __version__
from anacp.words import counted, listed, visible

try:
    from huggingface_hub import ModelCard, ModelHubMixin, hf_hub_download
except ImportError as problem:
    raise UnavailableError('The Hub needs huggingface_hub: pip install "anacp[hub]"') from problem

MODEL_FILE = "model.anacp"
# What the Hub's mixin may read out of a file beside the model; the model's own file says all of it.
STATED = frozenset({"encoder", "learner", "layers", "store"})

CARD = """---
library_name: anacp
tags: [anacp, continual-learning, model_hub_mixin]
---

# {title}

A classifier that keeps learning new classes, forgets on request, and can be undone.

| | |
|---|---|
| learned | {learned} |
| classes | {classes} |
| features | {backbone} |
| learner | {learner} |
| written by | anacp {version} |

```python
from anacp.methods import HubClassifier

model = HubClassifier.from_pretrained("OWNER/NAME")
print(model.answer(["…"]))
```

## Intended uses and limitations

It gives one of its classes to a whole photo or text. It names only what it has learned; `predict(…, unknown="unknown")`
says what is none of its classes. Features of examples may be kept so that steps can be undone; `give_up_undo()` before
it is shared keeps none.

## Hyperparameters

| hyperparameter | value |
|---|---|
{parameters}

## Evaluation results

{results}
"""
NOT_JUDGED = "None are stated. `anacp evaluate` says how well it does, on examples of yours."


class HubClassifier(Classifier, ModelHubMixin, library_name="anacp"):
    """A `Classifier` with `save_pretrained`, `push_to_hub` and `from_pretrained`.

    The folder holds the model file, `config.json` with a few facts for the Hub's pages, and a card. Only the model file
    is read back, and its backbone is loaded by the rules of `Classifier.load`: what came from elsewhere runs nothing.
    """

    def _save_pretrained(self, save_directory: Path) -> None:
        self.save(save_directory / MODEL_FILE)
        (save_directory / "config.json").write_text(json.dumps(self._facts(), indent=1))

    @classmethod
    def _from_pretrained(
        cls,
        *,
        model_id: str,
        revision: str | None,
        cache_dir: str | Path | None,
        force_download: bool,
        local_files_only: bool,
        token: str | bool | None,
        backbone: Any = None,
        engine: EngineName = "auto",
        device: str = "cpu",
        remote_code: bool = False,
        **stated: Any,
    ) -> Self:
        others = stated.keys() - STATED
        if others:
            raise ParameterError(
                f"Expected backbone, engine, device or remote_code, got {', '.join(sorted(others))}. Leave it out."
            )
        path = Path(model_id) / MODEL_FILE
        if not Path(model_id).is_dir():
            options: dict[str, Any] = {"cache_dir": cache_dir, "force_download": force_download, "token": token}
            options |= {"revision": revision, "local_files_only": local_files_only}
            path = Path(hf_hub_download(model_id, MODEL_FILE, **options))
        return cls.load(path, backbone=backbone, engine=engine, device=device, remote_code=remote_code)

    def generate_model_card(self, *args: Any, metrics: Mapping[str, float] | None = None, **kwargs: Any) -> ModelCard:
        """Return what the Hub shows of it: facts of the model, how to use it, its parameters, and how well it does.

        `metrics` is what you measured, by name; `save_pretrained` takes it as `model_card_kwargs={"metrics": …}`.
        """
        facts = self._facts()
        learned = f"{counted(facts['examples'], 'example')} of {counted(facts['classes'], 'class')}"
        names = listed(self.classes_.tolist(), 20, show=lambda one: visible(one).replace("|", "\\|"))
        return ModelCard(
            CARD.format(
                title=f"{facts['method']} on {facts['backbone']}",
                learned=learned,
                classes=names,
                backbone=facts["backbone"],
                learner=facts["method"],
                version=__version__,
                parameters=_rows(self.learner.get_params()),
                results="| metric | value |\n|---|---|\n" + _rows(metrics) if metrics else NOT_JUDGED,
            )
        )

    def _facts(self) -> dict[str, Any]:
        return {
            "library_name": "anacp",
            "written_by": f"anacp {__version__}",
            "method": type(self.learner).__name__,
            "backbone": self.encoder.origin.name,
            "fingerprint": self.encoder.origin.fingerprint,
            "examples": self.n_examples,
            "classes": len(self.classes_),
        }


def _rows(stated: Mapping[str, Any]) -> str:
    """Return the rows of a table of two columns."""
    return "\n".join(f"| {name} | {visible(value)} |".replace("\n", " ") for name, value in sorted(stated.items()))
