"""AnaCP read literally off the paper's page: the yardstick of `compare.py`, and an independent check of the library.

Dense W (D x d), `linalg.solve`, the full Gram product, independent replay draws, everything recomputed after each task.
Shares no code with `anacp`.
"""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


class TextbookAnaCP:
    """The paper's formulas, one after the other. Labels are integers; a class comes in one task only."""

    def __init__(
        self,
        n_projected: int = 5000,
        n_heads: int = 3,
        n_replay: int = 100,
        ridge: float = 100.0,
        repulsion: float = 1.0,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.n_projected, self.n_heads, self.n_replay = n_projected, n_heads, n_replay
        self.ridge, self.repulsion, self.dtype = ridge, repulsion, dtype
        self.generator = torch.Generator().manual_seed(seed)
        self.classes: list[int] = []
        self.n = 0

    def random_matrix(self, rows: int) -> Tensor:
        return torch.randn(rows, self.n_projected, generator=self.generator, dtype=self.dtype)

    def partial_fit(self, x: Tensor, y: Tensor) -> "TextbookAnaCP":
        x = F.normalize(x.to(self.dtype), dim=1)
        d, m = x.shape[1], self.n_projected
        if not self.classes:
            self.covariance = torch.zeros(d, d, dtype=self.dtype)
            self.means = torch.zeros(0, d, dtype=self.dtype)
            self.counts = torch.zeros(0, dtype=self.dtype)
            self.R = [self.random_matrix(d) for _ in range(self.n_heads)]
            self.G = [torch.zeros(m, m, dtype=self.dtype) for _ in range(self.n_heads)]
            self.M = [torch.zeros(m, 0, dtype=self.dtype) for _ in range(self.n_heads)]
            self.V = self.random_matrix(d)

        # Class means, and the shared covariance of Eq. 11.
        scatter = torch.zeros_like(self.covariance)
        new_means, new_counts, groups = [], [], []
        for label in y.unique():
            rows = y == label
            mean = x[rows].mean(0)
            scatter += (x[rows] - mean).T @ (x[rows] - mean)
            self.classes.append(int(label))
            new_means.append(mean)
            new_counts.append(rows.sum().to(self.dtype))
            groups.append(rows)
        self.means = torch.cat([self.means, torch.stack(new_means)])
        self.counts = torch.cat([self.counts, torch.stack(new_counts)])
        n_before, self.n = self.n, self.n + len(x)
        self.covariance = (n_before / self.n) * self.covariance + scatter / self.n

        # Gram matrices and class prototypes of the random features (Eqs. 3, 5, 9).
        for h in range(self.n_heads):
            Z = F.gelu(x @ self.R[h])
            self.G[h] = self.G[h] + Z.T @ Z
            self.M[h] = torch.cat([self.M[h], torch.stack([Z[rows].mean(0) for rows in groups], dim=1)], dim=1)

        self.P = self.target_prototypes()
        identity = torch.eye(m, dtype=self.dtype)
        self.W = [
            torch.linalg.solve(self.G[h] + self.ridge * identity, self.M[h] @ torch.diag(self.counts) @ self.P)
            for h in range(self.n_heads)
        ]

        # Pseudo-replay and the ELM on top (Section 3.3).
        root = torch.linalg.cholesky(self.jittered_covariance())
        replay, labels = [], []
        for c in range(len(self.classes)):
            noise = torch.randn(self.n_replay, d, generator=self.generator, dtype=self.dtype)
            replay.append(self.means[c] + noise @ root.T)
            labels.append(torch.full((self.n_replay,), c))
        Z = F.gelu(self.project(torch.cat(replay)) @ self.V)
        Y = F.one_hot(torch.cat(labels)).to(self.dtype)
        self.W_classifier = torch.linalg.solve(Z.T @ Z + self.ridge * identity, Z.T @ Y)
        return self

    def jittered_covariance(self) -> Tensor:
        d = len(self.covariance)
        return self.covariance + 1e-4 * torch.eye(d, dtype=self.dtype)

    def target_prototypes(self) -> Tensor:
        """Whiten, separate, de-whiten (Eqs. 12 to 16, in the class form of the Lemma)."""
        values, vectors = torch.linalg.eigh(self.jittered_covariance())
        whiten = vectors @ torch.diag(values.rsqrt()) @ vectors.T
        dewhiten = vectors @ torch.diag(values.sqrt()) @ vectors.T
        U, S, Vt = torch.linalg.svd(whiten @ self.means.T, full_matrices=False)
        w, e = torch.diag(S) @ Vt, Vt
        inner, norms = w.T @ w, w.norm(dim=0)
        terms = inner.ge(0).to(self.dtype).mul(2).sub(1) * (e.T @ w) * norms[:, None] ** 2
        terms = (terms - (e * w).sum(0)[:, None] * inner.abs()) / norms[None, :]
        delta = -torch.sign(terms.fill_diagonal_(0).sum(1))
        return (dewhiten @ U @ (w + self.repulsion * e @ torch.diag(delta))).T

    def project(self, x: Tensor) -> Tensor:
        heads = [F.normalize(F.gelu(x @ R) @ W, dim=1) for R, W in zip(self.R, self.W, strict=True)]
        return torch.stack(heads).mean(0)

    def predict(self, x: Tensor) -> Tensor:
        x = F.normalize(x.to(self.dtype), dim=1)
        scores = F.gelu(self.project(x) @ self.V) @ self.W_classifier
        return torch.tensor(self.classes)[scores.argmax(1)]
