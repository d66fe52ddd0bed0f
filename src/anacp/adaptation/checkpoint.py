"""Where training stood after the last whole epoch, in one safetensors file."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import Optimizer

from anacp.atomic import replacing

__all__ = ["Checkpoint"]

TRAINED, STATE = "trained/", "optimizer/"


class Checkpoint:
    """The trained weights and the optimiser's state of one run.

    Parameters
    ----------
    folder : Path
        Where checkpoints of any number of runs are kept.
    run : str
        What decides the run's result, as a hash: another run never finds this file.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self.path = Path(folder) / f"{run}.safetensors"
        self.seconds = 0.0  # that had been spent on what `load_` found

    def save(self, trained: Mapping[str, Tensor], optimizer: Optimizer, epochs: int, seconds: float) -> None:
        """Write all or nothing."""
        tensors = {f"{TRAINED}{name}": parameter.detach() for name, parameter in trained.items()}
        for number, state in optimizer.state_dict()["state"].items():
            tensors |= {f"{STATE}{number}/{name}": tensor for name, tensor in state.items() if tensor is not None}
        with replacing(self.path) as temporary:
            contents = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
            facts = {"format": "anacp-checkpoint", "epochs": str(epochs), "seconds": str(seconds)}
            save_file(contents, temporary, facts)

    def load_(self, trained: Mapping[str, Tensor], optimizer: Optimizer) -> int:
        """Put everything back and return how many epochs are done: 0, and nothing changed, without a whole file."""
        with contextlib.suppress(OSError, SafetensorError):
            with safe_open(self.path, framework="pt") as file:
                facts = file.metadata()
                # A copy of its own: products differ in the last digit by how numbers are aligned in memory.
                tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            state: dict[int, dict[str, Tensor]] = {}
            for name, tensor in tensors.items():
                if name.startswith(STATE):
                    number, _, key = name.removeprefix(STATE).partition("/")
                    state.setdefault(int(number), {})[key] = tensor
            with torch.no_grad():
                for name, parameter in trained.items():
                    parameter.copy_(tensors[f"{TRAINED}{name}"])
            optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
            self.seconds = float(facts.get("seconds", 0))
            return int(facts["epochs"])
        return 0
