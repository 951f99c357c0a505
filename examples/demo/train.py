"""One rank of the demo: trains the byte-level language model with DistributedDataParallel and measures its steps.

Started by run.py through `isthmus lab`; rank 0 prints progress and writes what was measured as JSON.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import sys
import time

import torch
import torch.distributed as dist
from data import Corpus, standard_library_text
from model import ByteModel, ModelSize
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from wire import sent_bytes

# DDP lays out its buckets anew after the first step, and the first steps open connections: they are not measured.
WARM_UP_STEPS = 3
# Each time that so many more are measured, it is decided how many fit into the budget.
STEPS_BETWEEN_DECISIONS = 5
BUCKET_MIB = 1  # several buckets, so that gradients travel while others are still computed
PEAK_LEARNING_RATE = 4e-3
RISING_STEPS = 8
WINDOW_BYTES = 128
HELD_OUT_WINDOWS = 48


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", choices=["isthmus", "gloo"], required=True)
    parser.add_argument("--steps", type=int, required=True, help="the most steps to train")
    parser.add_argument("--budget-seconds", type=float, required=True, help="fewer steps where these are not enough")
    parser.add_argument("--batch-per-rank", type=int, required=True)
    parser.add_argument("--result", type=pathlib.Path, required=True)
    return parser.parse_args()


class Trainer:
    """A rank's model and optimizer, and what it measured so far."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        torch.manual_seed(1)
        self.arguments = arguments
        self.size = ModelSize()
        self.model = DistributedDataParallel(
            ByteModel(self.size), bucket_cap_mb=BUCKET_MIB, gradient_as_bucket_view=True
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=PEAK_LEARNING_RATE, betas=(0.9, 0.95))
        self.corpus = Corpus(standard_library_text(), WINDOW_BYTES)
        self.rank = dist.get_rank()
        self.losses: list[float] = []
        self.step_seconds: list[float] = []
        self.ends_seconds: list[float] = []  # since the first step began
        self.start = time.monotonic()

    def learning_rate(self, step: int) -> float:
        """A short rise, then half a cosine down to a tenth; independent of how many steps the budget allows."""
        fall = 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, step / self.arguments.steps)))
        return PEAK_LEARNING_RATE * min(1.0, (step + 1) / RISING_STEPS) * fall

    def step(self) -> None:
        number, begin = len(self.losses), time.monotonic()
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate(number)
        inputs, targets = self.corpus.batch(number, self.rank, self.arguments.batch_per_rank)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.losses.append(loss.item())
        end = time.monotonic()
        self.step_seconds.append(end - begin)
        self.ends_seconds.append(end - self.start)

    def report_progress(self, total: int) -> None:
        done = len(self.losses)
        if self.rank == 0 and (done == total or done % max(1, self.arguments.steps // 15) == 0):
            print(
                f"step {done}/{total}: loss {self.losses[-1]:.3f} on rank 0, {self.step_seconds[-1]:.2f} s, "
                f"{self.ends_seconds[-1]:.0f} s since the first step",
                flush=True,
            )

    @torch.no_grad()
    def held_out_loss(self) -> float:
        inputs, targets = self.corpus.held_out_batch(HELD_OUT_WINDOWS)
        return nn.functional.cross_entropy(self.model.module(inputs).flatten(0, 1), targets.flatten()).item()


def steps_within_budget(trainer: Trainer) -> int:
    """How many steps the run has if the next ones take as long as the last; rank 0 decides, since clocks differ."""
    left = trainer.arguments.budget_seconds - trainer.ends_seconds[-1]
    fitting = int(left / statistics.mean(trainer.step_seconds[-STEPS_BETWEEN_DECISIONS:]))
    decided = torch.tensor([min(trainer.arguments.steps, len(trainer.losses) + max(0, fitting))])
    dist.broadcast(decided, src=0)
    return int(decided.item())


def gather_integers(value: int) -> list[int]:
    """The value of every rank."""
    rows = [torch.empty(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(rows, torch.tensor([value], dtype=torch.int64))
    return [int(row.item()) for row in rows]


def mean_over_ranks(values: list[float]) -> list[float]:
    total = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(total)
    return (total / dist.get_world_size()).tolist()


def train(arguments: argparse.Namespace) -> dict:
    """What was measured; complete on rank 0."""
    trainer = Trainer(arguments)
    dist.barrier()
    trainer.start = time.monotonic()
    first_counted = min(WARM_UP_STEPS, arguments.steps - 1)
    sent_before, total = 0, arguments.steps
    while (done := len(trainer.losses)) < total:
        if done == first_counted:
            sent_before = sent_bytes()
        trainer.step()
        trainer.report_progress(total)
        if done >= first_counted and (done + 1 - first_counted) % STEPS_BETWEEN_DECISIONS == 0:
            total = steps_within_budget(trainer)
    sent = sent_bytes() - sent_before
    sent_of_ranks = gather_integers(sent if os.environ.get("LOCAL_RANK") == "0" else -1)
    parameters = list(trainer.model.parameters())
    return {
        "backend": arguments.backend,
        "ranks": dist.get_world_size(),
        "torch": torch.__version__,
        "model": trainer.size.describe(),
        "parameter_count": sum(p.numel() for p in parameters),
        "gradient_bytes": sum(p.numel() * p.element_size() for p in parameters),
        "batch_per_rank": arguments.batch_per_rank,
        "window_bytes": WINDOW_BYTES,
        "corpus_bytes": trainer.corpus.size_bytes,
        "corpus_digest": trainer.corpus.digest,
        "budget_seconds": arguments.budget_seconds,
        "steps_asked": arguments.steps,
        "steps": total,
        "first_measured_step": first_counted,
        "step_seconds": trainer.step_seconds,
        "ends_seconds": trainer.ends_seconds,
        "losses": mean_over_ranks(trainer.losses),
        "held_out_loss": trainer.held_out_loss() if trainer.rank == 0 else None,
        "counted_steps": total - first_counted,  # that the bytes below were sent in
        "sent_bytes_of_sites": [value for value in sent_of_ranks if value >= 0],
    }


def main() -> int:
    arguments = parse_arguments()
    torch.set_num_threads(1)
    if arguments.backend == "isthmus":
        import isthmus  # noqa: F401  makes the backend known, also where it is not installed but in PYTHONPATH
    dist.init_process_group(arguments.backend, timeout=datetime.timedelta(seconds=60))
    result = train(arguments)
    if dist.get_rank() == 0:
        arguments.result.write_text(json.dumps(result, indent=1))
    dist.barrier()
    dist.destroy_process_group()
    if arguments.backend == "gloo":  # which now and then ends a process by std::terminate at exit (pytorch#190489)
        sys.stdout.flush()
        os._exit(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
