"""CODA-Prompt: prefixes as weighted sums of components, of which every task adds a few (Smith et al. 2023)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.adaptation import OptimiserPlan
from anacp.backbones import Backbone
from anacp.catalogue import method
from anacp.errors import ParameterError
from anacp.methods.trained.prompt_method import PromptMethod
from anacp.methods.trained.prompted_network import Prompts
from anacp.methods.trained.task import State, sized
from anacp.randomness import standard_normal


# For MiniLM as chosen on the validation split of CLINC150: docs/methods/trained.md.
@method(takes="items", settings={"minilm": {"rate": 2e-2, "epochs": 2, "batch_size": 32}}, page="coda_prompt")
class CODAPrompt(PromptMethod):
    """A prompt Σ_m cos(q ⊙ a_m, k_m) · p_m in each of several blocks; its halves are added keys and values.

    With every task new components join, orthogonal to the earlier ones at first; the earlier ones stay as they are.

    Other parameters: those of every `TrainedMethod`.

    Parameters
    ----------
    n_components : int, default=10
        New with every task; published as 100 for 10 tasks. The number of tasks need not be known.
    length : int, default=8
        Half of it keys, half values.
    prompt_layers : sequence of int, default=(0, 1, 2, 3, 4)
        Blocks, counted from 0.
    rate : float, default=1e-3
        Learning rate, along a cosine to 0 over the epochs.
    """

    def __init__(
        self,
        backbone: str | Backbone,
        *,
        n_components: int = 10,
        length: int = 8,
        prompt_layers: Sequence[int] = (0, 1, 2, 3, 4),
        rate: float = 1e-3,
        epochs: int = 20,
        batch_size: int = 128,
        seed: int = 0,
        checkpoints: str | Path | None = None,
    ) -> None:
        super().__init__(backbone, rate=rate, epochs=epochs, batch_size=batch_size, seed=seed, checkpoints=checkpoints)
        if length < 2 or length % 2:
            raise ParameterError(f"Expected an even length, half keys and half values, got {length}.")
        self.n_components, self.length = n_components, length
        self.layers = self.prompt_layers = tuple(prompt_layers)
        self.plan = OptimiserPlan(epochs, batch_size, "adam", final_rate=0.0)

    def _outlines(self, n_classes: int, n_tasks: int) -> State:
        width, outlines = self.backbone.n_features, super()._outlines(n_classes, n_tasks)
        for place in (f"{layer} of task {task}" for layer in self.prompt_layers for task in range(n_tasks)):
            outlines[f"prompts.{place}"] = sized(self.n_components, self.length, width)
            outlines |= {f"{kind}.{place}": sized(self.n_components, width) for kind in ("keys", "attentions")}
        return outlines

    def _grow(self, state: State, task: int) -> list[str]:
        width, names = self.backbone.n_features, []
        for layer in self.prompt_layers:
            for kind, size in (("prompts", self.length * width), ("keys", width), ("attentions", width)):
                earlier = [state[f"{kind}.{layer} of task {number}"].flatten(1) for number in range(task)]
                name = f"{kind}.{layer} of task {task}"
                drawn = _orthonormal_to(
                    torch.cat([torch.empty(0, size), *earlier]), self.n_components, self.seed, f"CODA-Prompt {name}"
                )
                state[name] = drawn.view(-1, self.length, width) if kind == "prompts" else drawn
                names.append(name)
        return names

    def _prompts(self, prompts: Mapping[str, Tensor], queries: Tensor, task: int | None) -> tuple[Prompts, Tensor]:
        n_tasks = sum(name.startswith("keys.") for name in prompts) // len(self.prompt_layers)
        prefixes = {}
        for layer in self.prompt_layers:
            components, keys, attentions = (
                torch.cat([prompts[f"{kind}.{layer} of task {number}"] for number in range(n_tasks)])
                for kind in ("prompts", "keys", "attentions")
            )  # (m, length, d), (m, d), (m, d)
            directions = F.normalize(keys, dim=1)
            # cos(q ⊙ a, k) without an (n, m, d) tensor: numerator and denominator are both products of matrices.
            along = queries @ (attentions * directions).mT  # (n, m)
            norms = (queries.square() @ attentions.square().mT).clamp_min(1e-24).sqrt()  # (n, m)
            prompt = torch.tensordot(along / norms, components, 1)  # (n, length, d)
            prefixes[layer] = (prompt[:, : self.length // 2], prompt[:, self.length // 2 :])
        return Prompts(prefixes=prefixes), queries.new_zeros(())


def _orthonormal_to(earlier: Tensor, n: int, seed: int, role: str) -> Tensor:
    """Draw n rows of length 1 that are orthogonal to each other and to earlier rows (Gram–Schmidt)."""
    width = earlier.shape[1]
    if len(earlier) + n > width:
        raise ParameterError(
            f"Expected at most {width} components, since no more than that are orthogonal in {width} dimensions, got "
            f"{len(earlier) + n}. Choose fewer components a task."
        )
    together = torch.cat([earlier, standard_normal(seed, role, n, width)]).double()
    basis: Tensor = torch.linalg.qr(together.mT).Q  # (d, earlier + n)
    return basis[:, len(earlier) :].mT.float().contiguous()
