"""A small causal convolutional language model over bytes.

Dilated causal convolutions as in WaveNet (van den Oord et al., 2016, arXiv:1609.03499), in the residual layers of a
transformer (a mixing part, then a part per position). It learns n-grams within a few steps, which a transformer of this
size does not, so that a demo of a minute has a curve to show.
"""

from __future__ import annotations

import dataclasses

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class ModelSize:
    width: int = 144
    dilations: tuple[int, ...] = (1, 2, 4, 8)  # of each layer
    taps: int = 4  # positions that a layer mixes

    @property
    def reach(self) -> int:
        """How many bytes a prediction depends on."""
        return 1 + (self.taps - 1) * sum(self.dilations)

    def describe(self) -> str:
        return (
            f"causal convolutions over bytes, {len(self.dilations)} layers of width {self.width}, each prediction from "
            f"{self.reach} bytes"
        )


class CausalMix(nn.Module):
    """A dense map of a position and the `taps - 1` before it, `dilation` apart, to the position."""

    def __init__(self, width: int, taps: int, dilation: int) -> None:
        super().__init__()
        self.taps, self.dilation = taps, dilation
        self.weights = nn.Linear(taps * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length, before = x.shape[1], (self.taps - 1) * self.dilation
        padded = functional.pad(x, (0, 0, before, 0))
        shifted = [padded[:, start : start + length] for start in range(0, before + 1, self.dilation)]
        return self.weights(torch.cat(shifted, dim=-1))


class Layer(nn.Module):
    def __init__(self, size: ModelSize, dilation: int) -> None:
        super().__init__()
        width = size.width
        self.mix = nn.Sequential(nn.LayerNorm(width), CausalMix(width, size.taps, dilation))
        self.think = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.mix(x)
        return x + self.think(x)


class ByteModel(nn.Module):
    """Bytes [batch, length] (int64) to logits of the next byte [batch, length, 256]."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.bytes = nn.Embedding(256, size.width)
        nn.init.normal_(self.bytes.weight, std=0.02)
        self.layers = nn.Sequential(*(Layer(size, dilation) for dilation in size.dilations))
        self.logits = nn.Sequential(nn.LayerNorm(size.width), nn.Linear(size.width, 256))

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.logits(self.layers(self.bytes(text)))
