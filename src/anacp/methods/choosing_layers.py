"""Which layers serve the examples best: each example is judged by a fit to all others, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.backbones import Layers, LayerView, usual_layers
from anacp.encoders import Encoder, LayerChoice
from anacp.labels import Labels
from anacp.linalg import Triangle, factor_psd, unit_rows

MOST = 2000  # examples that are judged: 2,000² numbers, a second a set of layers
LEAST = 100  # below, one mistake is more than the layers differ by
# λ of the random features of a head, a feature: AnaCP's 100 for 5,000.
RIDGE = 100 / 5000


def computing_all(encoder: Encoder) -> Encoder:
    """Return the encoder that computes all layers that may be chosen, as they are."""
    return encoder.decided(encoder.backbone.choices[-1], scaled=False)


def chosen_layers(encoder: Encoder, x: NDArray[np.float32], labels: Labels, digests: Sequence[bytes]) -> Encoder:
    """Return the encoder with layers that are chosen by examples, given all that `computing_all` has of them.

    Of equally good ones, within a standard error of the difference, the fewest are taken. At most 2,000 examples judge,
    those with the least digests, so that neither order nor place decides.
    """
    choices = encoder.backbone.choices
    rows = np.array(sorted(range(len(x)), key=lambda row: (digests[row], str(labels[row])))[:MOST])
    classes = np.unique(labels[rows], return_inverse=True)[1]
    counted = np.bincount(classes) > 1  # an example of which there is no other cannot be judged
    if counted.sum() < 2 or counted[classes].sum() < LEAST or len(choices) == 1:
        choice = LayerChoice(choices, (), len(rows))
        return encoder.decided(usual_layers(choices, encoder.backbone.preset.pooling), choice)
    judged = torch.from_numpy(counted[classes])
    wrong = [_mistakes(selected(encoder, x[rows], layers), classes)[judged] for layers in choices]
    choice = LayerChoice(choices, tuple(int(one.sum()) for one in wrong), int(judged.sum()))
    return encoder.decided(choices[_fewest(wrong)], choice)


def selected(encoder: Encoder, x: NDArray[np.float32], layers: Layers) -> NDArray[np.float32]:
    """Return the features of some layers, given all that `computing_all` has of the examples."""
    found, start = [], 0
    for part in computing_all(encoder).parts:
        own, start = x[:, start : start + part.n_features], start + part.n_features
        view = LayerView.of(layers, part.identity.layers, part.layer_widths, len(layers) > 1)
        found.append(view(own))
    return np.concatenate(found, 1)


def _fewest(wrong: Sequence[Tensor]) -> int:
    """Return the first whose mistakes are as few as the fewest, but for one standard error of the difference."""
    best = min(wrong, key=lambda one: int(one.sum()))
    for place, one in enumerate(wrong):
        more, differing = int(one.sum() - best.sum()), int((one != best).sum())
        if more**2 <= differing:  # the deviation of a sum of so many signs
            return place
    raise AssertionError("the best one is as good as itself")


def _mistakes(x: NDArray[np.float32], classes: NDArray[np.intp]) -> Tensor:
    """Return for each example whether a fit to all others answers it wrongly.

    The fit is ridge regression of one-hot labels on random features of unit rows with φ = ReLU, so many of them that
    only their expected products count: k(x, z) = (sin θ + (π − θ) cos θ) / 2π (Cho and Saul 2009). Its error on an
    example that is left out is α / diag (K + λI)⁻¹, with α = (K + λI)⁻¹ Y.
    """  # (n,)
    rows = unit_rows(torch.from_numpy(x).double())
    cosine = (rows @ rows.mT).clamp_(-1, 1)
    angle = cosine.acos()
    kernel = (angle.sin() + (torch.pi - angle) * cosine) / (2 * torch.pi)
    truth = torch.from_numpy(classes)
    targets = torch.nn.functional.one_hot(truth).double()  # (n, c)
    factor = factor_psd(Triangle.filled(len(rows), lambda strip: kernel[strip, : strip.stop]), shift=RIDGE)
    inverse = factor.solve(torch.eye(len(rows), dtype=torch.float64))
    left_out = targets - (inverse @ targets) / inverse.diagonal()[:, None]
    return left_out.argmax(1) != truth  # (n,)
