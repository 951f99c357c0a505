"""What the numbered examples share: a small model, its data, training in one process to compare with, and main().

Every rank can compute every other rank's batch, so rank 0 can train alone on all of them: the result of each example
must be the same, up to the rounding of another order of summation.
"""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Callable, Iterable

import isthmus  # noqa: F401  makes the backend known, also where it is not installed but in PYTHONPATH
import torch
import torch.distributed as dist
from torch import nn

FEATURES, WIDTH, OUTPUTS, BATCH, STEPS = 16, 64, 4, 8, 5


def build_model(dtype: torch.dtype = torch.float64) -> nn.Module:
    """The same parameters in every process."""
    torch.manual_seed(1)
    layers = [nn.Linear(FEATURES, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, OUTPUTS)]
    return nn.Sequential(*layers).to(dtype)


def batch(step: int, number: int, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets of batch `number` of a step; one for each rank that sees data of its own."""
    generator = torch.Generator().manual_seed(1000 * step + number)
    inputs = torch.randn(BATCH, FEATURES, generator=generator, dtype=torch.float64)
    return inputs.to(dtype), inputs[:, :OUTPUTS].tanh().to(dtype)


def loss_of(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(outputs, targets)


def new_optimizer(parameters: Iterable[torch.Tensor]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, number: int, dtype: torch.dtype = torch.float64) -> None:
    """Plain training on batch `number` of each step; what is distributed about it is in `model`."""
    for step in range(STEPS):
        optimizer.zero_grad()
        inputs, targets = batch(step, number, dtype)
        loss_of(model(inputs), targets).backward()
        optimizer.step()


def train_on_all(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: int,
    dtype: torch.dtype = torch.float64,
    scale: float = 1.0,
) -> None:
    """What train() does on `batches` ranks, done by one process: the gradient is the mean of theirs, times `scale`."""
    for step in range(STEPS):
        optimizer.zero_grad()
        for number in range(batches):
            inputs, targets = batch(step, number, dtype)
            (loss_of(model(inputs), targets) * (scale / batches)).backward()
        optimizer.step()


def train_alone(batches: int, dtype: torch.dtype = torch.float64, scale: float = 1.0) -> nn.Module:
    """A new model after train_on_all()."""
    model = build_model(dtype)
    train_on_all(model, new_optimizer(model.parameters()), batches, dtype, scale)
    return model


def compare(what: str, mine: Iterable[torch.Tensor], expected: Iterable[torch.Tensor], tolerance: float = 1e-9) -> bool:
    """Whether the largest difference is within `tolerance` of the largest value. Rank 0 prints it."""
    pairs = [(a.detach().double(), b.detach().double()) for a, b in zip(mine, expected, strict=True)]
    difference = max((a - b).abs().max().item() for a, b in pairs) / max(b.abs().max().item() for _, b in pairs)
    good = difference <= tolerance
    if dist.get_rank() == 0 or not good:
        words = "equals" if good else "DIFFERS from"
        print(f"{what}: {words} one process's, largest difference {difference:.3g} (allowed {tolerance:g})", flush=True)
    return good


def all_agree(good: bool) -> bool:
    answer = torch.tensor([int(good)])
    dist.all_reduce(answer, dist.ReduceOp.MIN)
    return bool(answer.item())


def main(example: Callable[[], bool], timeout_s: float = 60) -> None:
    """Runs `example` in the group that torchrun's or the lab's variables describe; ends with status 0 if it is good."""
    torch.set_num_threads(1)
    dist.init_process_group("isthmus", timeout=datetime.timedelta(seconds=timeout_s))
    try:
        good = all_agree(example())
    except Exception as error:  # noqa: BLE001  whatever ends this rank is told with the rank
        print(f"rank {os.environ.get('RANK')}: failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
    dist.destroy_process_group()
    sys.exit(0 if good else 1)
