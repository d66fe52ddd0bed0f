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
# Scores lie about 0 and 1, so that probabilities are as sharp as they can be below this; found to a millionth of it.
SHARPEST, HALVINGS = 1e3, 20


def computing_all(encoder: Encoder) -> Encoder:
    """Return the encoder that computes all layers that may be chosen, as they are."""
    return encoder.decided(encoder.backbone.choices[-1], scaled=False)


def chosen_layers(encoder: Encoder, x: NDArray[np.float32], labels: Labels, digests: Sequence[bytes]) -> Encoder:
    """Return the encoder with layers that are chosen by examples, given all that `computing_all` has of them.

    Those are taken by which the answers to left-out examples are most likely. At most 2,000 examples judge, those with
    the least digests, so that neither order nor place decides.
    """
    choices = encoder.backbone.choices
    rows = np.array(sorted(range(len(x)), key=lambda row: (digests[row], str(labels[row])))[:MOST])
    classes = np.unique(labels[rows], return_inverse=True)[1]
    counted = np.bincount(classes) > 1  # an example of which there is no other cannot be judged
    if counted.sum() < 2 or counted[classes].sum() < LEAST or len(choices) == 1:
        choice = LayerChoice(choices, (), len(rows))
        return encoder.decided(usual_layers(choices, encoder.backbone.preset.pooling), choice)
    judged = torch.from_numpy(counted[classes])
    truth = torch.from_numpy(classes)[judged]
    answers = [_left_out(selected(encoder, x[rows], layers), classes)[judged] for layers in choices]
    losses = tuple(round(_log_loss(scores, truth), 6) for scores in answers)
    mistakes = tuple(int((scores.argmax(1) != truth).sum()) for scores in answers)
    return encoder.decided(choices[losses.index(min(losses))], LayerChoice(choices, mistakes, len(truth), losses))


def selected(encoder: Encoder, x: NDArray[np.float32], layers: Layers) -> NDArray[np.float32]:
    """Return the features of some layers, given all that `computing_all` has of the examples."""
    found, start = [], 0
    for part in computing_all(encoder).parts:
        own, start = x[:, start : start + part.n_features], start + part.n_features
        view = LayerView.of(layers, part.identity.layers, part.layer_widths, len(layers) > 1)
        found.append(view(own))
    return np.concatenate(found, 1)


def _log_loss(scores: Tensor, truth: Tensor) -> float:
    """Return the mean of -log softmax(β·scores) of the truth, for the β that makes it least.

    It tells layers apart where mistakes are too few to, and unlike squared error it agrees with them.
    """
    low, high = 0.0, SHARPEST  # the loss is convex in β: its slope has one zero
    of_truth = scores.gather(1, truth[:, None]).squeeze(1)
    for _ in range(HALVINGS):
        beta = (low + high) / 2
        expected = (torch.softmax(beta * scores, 1) * scores).sum(1)
        low, high = (low, beta) if float((expected - of_truth).mean()) > 0 else (beta, high)
    return float(torch.nn.functional.cross_entropy(low * scores, truth))


def _left_out(x: NDArray[np.float32], classes: NDArray[np.intp]) -> Tensor:
    """Return for each example what a fit to all others scores the classes.

    The fit is ridge regression of one-hot labels on random features of unit rows with φ = ReLU, so many of them that
    only their expected products count: k(x, z) = (sin θ + (π − θ) cos θ) / 2π (Cho and Saul 2009). Its error on an
    example that is left out is α / diag (K + λI)⁻¹, with α = (K + λI)⁻¹ Y.
    """  # (n, c)
    rows = unit_rows(torch.from_numpy(x).double())
    cosine = (rows @ rows.mT).clamp_(-1, 1)
    angle = cosine.acos()
    kernel = (angle.sin() + (torch.pi - angle) * cosine) / (2 * torch.pi)
    targets = torch.nn.functional.one_hot(torch.from_numpy(classes)).double()  # (n, c)
    factor = factor_psd(Triangle.filled(len(rows), lambda strip: kernel[strip, : strip.stop]), shift=RIDGE)
    inverse = factor.solve(torch.eye(len(rows), dtype=torch.float64))
    return targets - (inverse @ targets) / inverse.diagonal()[:, None]
