"""Text that every machine has: the sources of Python's standard library, as bytes."""

from __future__ import annotations

import hashlib
import pathlib
import sysconfig

import torch

# Folders of the standard library that hold other things than its own sources, or data that is no code to read.
SKIPPED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "encodings", "pydoc_data"}
HELD_OUT_FRACTION = 0.02


def standard_library_text(most_bytes: int = 8_000_000) -> bytes:
    """Its files one after the other, in the order of their names; the same in all processes of a machine."""
    root = pathlib.Path(sysconfig.get_paths()["stdlib"])
    text = bytearray()
    for path in sorted(root.rglob("*.py")):
        if SKIPPED.isdisjoint(path.relative_to(root).parts):
            text += path.read_bytes()
        if len(text) >= most_bytes:
            break
    return bytes(text[:most_bytes])


class Corpus:
    """Windows of the text: random ones to train on, and a fixed set of held-out ones."""

    def __init__(self, text: bytes, window_bytes: int) -> None:
        self.digest = hashlib.sha256(text).hexdigest()[:12]
        self.size_bytes = len(text)
        self.window = window_bytes
        values = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        held_out = int(len(text) * HELD_OUT_FRACTION)
        self.training, self.held_out = values[:-held_out], values[-held_out:]

    def batch(self, step: int, rank: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs and targets [count, window] (int64), drawn from (step, rank) alone: every run sees the same."""
        generator = torch.Generator().manual_seed(step * 1009 + rank)
        starts = torch.randint(len(self.training) - self.window - 1, (count,), generator=generator)
        return self._windows(self.training, starts)

    def held_out_batch(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """`count` windows spread evenly over the held-out text."""
        starts = torch.linspace(0, len(self.held_out) - self.window - 2, count).long()
        return self._windows(self.held_out, starts)

    def _windows(self, text: torch.Tensor, starts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        windows = torch.stack([text[start : start + self.window + 1] for start in starts.tolist()]).long()
        return windows[:, :-1], windows[:, 1:]
