"""A small causal transformer over bytes."""

from __future__ import annotations

import dataclasses

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class ModelSize:
    width: int = 128
    layers: int = 4
    heads: int = 4
    window: int = 128  # bytes that the model sees at once

    def describe(self) -> str:
        return (
            f"causal transformer over bytes, {self.layers} layers of width {self.width}, {self.heads} heads, "
            f"window {self.window}"
        )


class LocalMix(nn.Module):
    """Each channel of a byte is mixed with those of the three bytes before it: n-grams are learnt within few steps."""

    REACH = 4

    def __init__(self, width: int) -> None:
        super().__init__()
        self.filters = nn.Conv1d(width, width, self.REACH, groups=width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.filters(functional.pad(x.transpose(1, 2), (self.REACH - 1, 0))).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.heads = size.heads
        self.query_key_value = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.query_key_value(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        width = size.width
        self.mix = nn.Sequential(nn.LayerNorm(width), LocalMix(width), Attention(size))
        self.think = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.mix(x)
        return x + self.think(x)


class ByteModel(nn.Module):
    """Bytes [batch, length] (int64, length at most the window) to logits of the next byte [batch, length, 256]."""

    def __init__(self, size: ModelSize) -> None:
        super().__init__()
        self.bytes = nn.Embedding(256, size.width)
        self.positions = nn.Parameter(torch.empty(size.window, size.width))
        nn.init.normal_(self.bytes.weight, std=0.02)
        nn.init.normal_(self.positions, std=0.02)
        self.layers = nn.Sequential(*(Layer(size) for _ in range(size.layers)))
        self.logits = nn.Sequential(nn.LayerNorm(size.width), nn.Linear(size.width, 256))

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        return self.logits(self.layers(self.bytes(text) + self.positions[: text.shape[1]]))
