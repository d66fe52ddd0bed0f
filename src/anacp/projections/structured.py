"""A random projection that costs a fraction of a dense one: orthogonal groups of few coordinates."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from anacp.projections.random import RandomProjection
from anacp.projections.structure import Structure


@dataclass(frozen=True)
class StructuredProjection(RandomProjection):
    """xR with R = S (C ⊗ I) diag(R_1, …, R_g): signs S, a cosine transform C over g groups, and a matrix a group.

    Signs and transform keep all lengths, and put a share of every input coordinate into every group. Each group of
    about 64 mixed coordinates then makes its share of the outputs, by a dense matrix with nearly normal entries. So
    an output depends on the whole input and varies as with a dense matrix, at 64 multiplications instead of d; and
    numbers come from a hash, the same on every machine, with torch or without.
    """

    @cached_property
    def structure(self) -> Structure:
        """The numbers."""
        return Structure(self.n_features, self.n_outputs, self.seed, self.role)

    @cached_property
    def _mixing(self) -> tuple[Tensor, Tensor]:
        """S as a row (g·width,), and C."""
        signs, transform = torch.from_numpy(self.structure.signs), torch.from_numpy(self.structure.transform)
        return signs.to(self.device, self.dtype), transform.to(self.device, self.dtype)

    @cached_property
    def _whole(self) -> Tensor:
        """R_1 … R_g as whole numbers."""
        return torch.from_numpy(self.structure.entries)

    @cached_property
    def _groups(self) -> Tensor:
        """R_1 … R_g (g, width, outputs a group)."""
        return (self._whole.double() * self.structure.scale).to(self.device, self.dtype)

    def linear(self, x: Tensor) -> Tensor:
        """Return xR (n, m)."""
        mixed = self._mixed(x)
        if torch._C._get_tracing_state() is not None:  # graphs have no places to write to
            return torch.bmm(mixed, self._groups).transpose(0, 1).flatten(1)[:, : self.n_outputs]
        outputs = x.new_empty(len(x), self.structure.n_groups, self._groups.shape[2])
        torch.bmm(mixed, self._groups, out=outputs.transpose(0, 1))  # each group where it belongs: no copy
        return outputs.flatten(1)[:, : self.n_outputs]

    def _mixed(self, x: Tensor) -> Tensor:
        """Return xS(C ⊗ I), group by group (g, n, width)."""
        signs, transform = self._mixing
        filled = x if len(signs) == self.n_features else F.pad(x, (0, len(signs) - self.n_features))
        # Not len(x): a tracer would take it for a constant.
        parted = (filled * signs).view(x.shape[0], self.structure.n_groups, self.structure.width)
        return torch.einsum("ab,nbw->anw", transform, parted)

    def variances(self, covariance: Tensor) -> Tensor:
        """Return the diagonal of RᵀΣR (m,): only groups of mixed coordinates with themselves count."""
        signs, transform = self._mixing
        n_groups, width = self.structure.n_groups, self.structure.width
        missing = len(signs) - self.n_features
        signed = F.pad(covariance * signs[: self.n_features], (0, missing, 0, missing)) * signs[:, None]
        parted = signed.view(n_groups, width, n_groups, width).transpose(1, 2).reshape(n_groups**2, -1)  # (bb', wv)
        pairs = (transform[:, :, None] * transform[:, None]).flatten(1)  # (a, bb')
        blocks = (pairs @ parted).view(n_groups, width, width)
        return (self._groups * torch.bmm(blocks, self._groups)).sum(1).flatten()[: self.n_outputs]

    def adjoint(self, y: Tensor) -> Tensor:
        """Return yRᵀ (n, d)."""
        signs, transform = self._mixing
        groups = self._groups
        filled = F.pad(y, (0, self.structure.n_groups * groups.shape[2] - self.n_outputs)).view(
            len(y), self.structure.n_groups, -1
        )
        mixed = torch.bmm(filled.transpose(0, 1), groups.mT)  # (g, n, width)
        return (torch.einsum("ab,anw->nbw", transform, mixed).flatten(1) * signs)[:, : self.n_features]

    def portable(self) -> Self:
        """Return the same in float32 on the CPU; a graph that is exported makes it of whole numbers."""
        twin = replace(self, device="cpu", dtype=torch.float32)
        twin._whole  # noqa: B018
        return twin

    @cached_property
    def matrix(self) -> Tensor:
        """R (d, m), dense: for checks, not for work."""
        return self.linear(torch.eye(self.n_features, device=self.device, dtype=self.dtype))
