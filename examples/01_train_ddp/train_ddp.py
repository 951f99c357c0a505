"""Trains a small model with DistributedDataParallel and proves that every rank has the same one.

Every rank draws the same global batch of each step and takes its own slice of it, so the result is that of one process
training on the whole batch, up to rounding. At the end each rank prints the SHA-256 of its parameters; rank 0 compares
all of them and, in --reference, trains alone on the same batches and prints the largest relative difference.

    isthmus lab --sites 3 --ranks-per-site 2 --rate 100mbit --rtt 60ms -- python examples/01_train_ddp/train_ddp.py

It needs what torchrun sets (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), and ends with status 0 only if all is well.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import pathlib
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

FEATURES, CLASSES = 64, 10
# Reference and distributed training add the same numbers in another order: what that may change at most.
TOLERANCE = {"float64": 1e-9, "float32": 1e-2}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--backend", choices=["isthmus", "gloo"], default="isthmus")
    parser.add_argument("--dtype", choices=sorted(TOLERANCE), default="float64")
    parser.add_argument("--width", type=int, default=256, help="of the hidden layers")
    parser.add_argument("--batch-per-rank", type=int, default=16)
    parser.add_argument("--timeout", type=float, default=60, help="of a collective without progress, in seconds")
    parser.add_argument(
        "--reference",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compare with a single process on the same global batches",
    )
    parser.add_argument("--die", metavar="RANK:STEP", help="this rank kills itself before this step")
    parser.add_argument(
        "--marker",
        type=pathlib.Path,
        help="a file whose time of change says when something was broken on purpose (--die touches it)",
    )
    return parser.parse_args()


def build_model(arguments: argparse.Namespace) -> nn.Module:
    """The same parameters in every process."""
    torch.manual_seed(1)
    width = arguments.width
    layers = [nn.Linear(FEATURES, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, CLASSES)]
    return nn.Sequential(*layers).to(getattr(torch, arguments.dtype))


def global_batch(step: int, size: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Points and their classes, which a fixed random matrix decides; the same in every process."""
    teacher = torch.randn(FEATURES, CLASSES, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    points = torch.randn(size, FEATURES, generator=torch.Generator().manual_seed(1000 + step), dtype=torch.float64)
    return points.to(dtype), (points @ teacher).argmax(dim=1)


class Training:
    """A model, its optimizer, and the slice [first, last) of each global batch that it sees."""

    def __init__(self, model: nn.Module, batch: int, first: int, last: int) -> None:
        self.model, self.batch, self.slice = model, batch, slice(first, last)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(self, number: int) -> float:
        points, classes = global_batch(number, self.batch, next(self.model.parameters()).dtype)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(points[self.slice]), classes[self.slice])
        loss.backward()
        self.optimizer.step()
        return loss.item()


def flat_parameters(model: nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])


def hashes_of_all_ranks(model: nn.Module) -> list[str]:
    digest = hashlib.sha256(flat_parameters(model).numpy().tobytes()).digest()
    gathered = [torch.empty(len(digest), dtype=torch.uint8) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, torch.tensor(list(digest), dtype=torch.uint8))
    return [bytes(row.tolist()).hex() for row in gathered]


def difference_from_reference(arguments: argparse.Namespace, model: nn.Module, batch: int) -> float:
    """Trains in this process alone; the largest difference of a parameter, relative to the largest parameter."""
    reference = Training(build_model(arguments), batch, 0, batch)
    for step in range(arguments.steps):
        reference.step(step)
    expected = flat_parameters(reference.model)
    return ((flat_parameters(model) - expected).abs().max() / expected.abs().max()).item()


class Progress:
    """What an error message needs: how far this rank came, and when."""

    def __init__(self, marker: pathlib.Path | None) -> None:
        self.marker, self.steps, self.since = marker, 0, time.monotonic()

    def step_done(self) -> None:
        self.steps += 1
        self.since = time.monotonic()

    def describe(self) -> str:
        text = f"{time.monotonic() - self.since:.2f} s after step {self.steps}"
        if self.marker is not None and self.marker.exists():
            text += f", {time.time() - self.marker.stat().st_mtime:.2f} s after the marker"
        return text


def die_if_told(arguments: argparse.Namespace, rank: int, step: int) -> None:
    if arguments.die == f"{rank}:{step}":
        print(f"rank {rank}: kills itself before step {step}", flush=True)
        if arguments.marker is not None:
            arguments.marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def train(arguments: argparse.Namespace, progress: Progress) -> bool:
    """Returns whether everything that is checked holds."""
    rank, world = dist.get_rank(), dist.get_world_size()
    size = arguments.batch_per_rank
    model = DistributedDataParallel(build_model(arguments))
    training = Training(model, size * world, size * rank, size * (rank + 1))
    start = time.monotonic()
    for step in range(arguments.steps):
        die_if_told(arguments, rank, step)
        loss = training.step(step)
        progress.step_done()
        if rank == 0 and (step + 1) % max(1, arguments.steps // 5) == 0:
            seconds = (time.monotonic() - start) / (step + 1)
            print(f"step {step + 1}/{arguments.steps}: loss {loss:.4f} on rank 0, {seconds:.3f} s per step", flush=True)

    hashes = hashes_of_all_ranks(model.module)
    print(f"rank {rank}: parameters {hashes[rank]}", flush=True)
    good = len(set(hashes)) == 1
    if rank != 0:
        return good
    print(f"parameters are {'equal' if good else 'NOT equal'} on all {world} ranks", flush=True)
    if arguments.reference:
        difference = difference_from_reference(arguments, model.module, size * world)
        tolerance = TOLERANCE[arguments.dtype]
        good = good and difference < tolerance
        print(
            f"largest difference from one process on the same batches: {difference:.3g} of the largest parameter "
            f"({arguments.dtype}; allowed {tolerance:g})",
            flush=True,
        )
    return good


def main() -> int:
    arguments = parse_arguments()
    torch.set_num_threads(1)
    rank, progress = os.environ.get("RANK", "?"), Progress(arguments.marker)
    try:
        if arguments.backend == "isthmus":
            import isthmus  # noqa: F401  makes the backend known, also where it is not installed but in PYTHONPATH
        dist.init_process_group(arguments.backend, timeout=datetime.timedelta(seconds=arguments.timeout))
        good = train(arguments, progress)
        dist.barrier()  # nobody leaves while rank 0 trains its reference: leaving is an error to who still works
        dist.destroy_process_group()
    except Exception as error:  # noqa: BLE001  whatever ends this rank is told with the rank and the time
        text = f"rank {rank}: failed {progress.describe()}: {type(error).__name__}: {error}"
        print(text, file=sys.stderr, flush=True)
        return 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
