"""What DistributedDataParallel can do, each compared with one process on the same batches.

Gradients as views of buckets, accumulation, a static graph, unused parameters, join() on uneven inputs, and torch's
communication hooks: allreduce, fp16, bf16, PowerSGD.

    isthmus lab --sites 2 --ranks-per-site 2 --rate 100mbit --rtt 60ms -- \\
        python examples/02_ddp_features/ddp_features.py
"""

from __future__ import annotations

import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402


def ddp(**options) -> DistributedDataParallel:
    return DistributedDataParallel(support.build_model(), bucket_cap_mb=0.01, **options)


def trained(model: DistributedDataParallel) -> DistributedDataParallel:
    support.train(model, support.new_optimizer(model.parameters()), dist.get_rank())
    return model


def forms() -> bool:
    expected = list(support.train_alone(dist.get_world_size()).parameters())
    options = {"buckets as views": {"gradient_as_bucket_view": True}, "static graph": {"static_graph": True}}
    return all([support.compare(name, trained(ddp(**given)).parameters(), expected) for name, given in options.items()])


def accumulation() -> bool:
    """Half of each batch without communication, then the other half."""
    model = ddp(gradient_as_bucket_view=True)
    optimizer = support.new_optimizer(model.parameters())
    for step in range(support.STEPS):
        optimizer.zero_grad()
        inputs, targets = support.batch(step, dist.get_rank())
        first, second = zip(inputs.chunk(2), targets.chunk(2), strict=True)
        with model.no_sync():
            (support.loss_of(model(first[0]), first[1]) / 2).backward()
        (support.loss_of(model(second[0]), second[1]) / 2).backward()
        optimizer.step()
    expected = support.train_alone(dist.get_world_size())
    return support.compare("accumulation", model.parameters(), expected.parameters())


class Branches(nn.Module):
    """Each rank uses one branch; the third is used by nobody."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.branches = nn.ModuleList(nn.Linear(support.FEATURES, support.OUTPUTS).double() for _ in range(3))

    def forward(self, inputs: torch.Tensor, branch: int) -> torch.Tensor:
        return self.branches[branch](inputs)


def unused_parameters() -> bool:
    rank, world = dist.get_rank(), dist.get_world_size()
    model, alone = DistributedDataParallel(Branches(), find_unused_parameters=True), Branches()
    inputs, targets = support.batch(0, rank)
    support.loss_of(model(inputs, rank % 2), targets).backward()
    for number in range(world):
        inputs, targets = support.batch(0, number)
        (support.loss_of(alone(inputs, number % 2), targets) / world).backward()
    mine, expected = [
        [parameter.grad for branch in branches[:2] for parameter in branch.parameters()]
        for branches in (model.module.branches, alone.branches)
    ]
    untouched = all(parameter.grad is None for parameter in model.module.branches[2].parameters())
    return support.compare("unused parameters", mine, expected) and untouched


def uneven_inputs() -> bool:
    """Rank r has r + 1 batches. A rank that ran out takes part with zeros: sums are divided by the world's size."""
    rank, world = dist.get_rank(), dist.get_world_size()
    model, alone = ddp(), support.build_model()
    optimizer, optimizer_alone = support.new_optimizer(model.parameters()), support.new_optimizer(alone.parameters())
    with model.join(divide_by_initial_world_size=True):
        for step in range(rank + 1):
            optimizer.zero_grad()
            inputs, targets = support.batch(step, rank)
            support.loss_of(model(inputs), targets).backward()
            optimizer.step()
    for step in range(world):
        optimizer_alone.zero_grad()
        for number in range(step, world):
            inputs, targets = support.batch(step, number)
            (support.loss_of(alone(inputs), targets) / world).backward()
        optimizer_alone.step()
    return support.compare("join on uneven inputs", model.parameters(), alone.parameters())


def bf16_hook(state, bucket):  # DDP reads annotations and knows none that are strings, as they are in this file
    """torch registers its own only for GPUs, though it does its work on CPUs as well."""
    return default_hooks.bf16_compress_hook(state, bucket)


def hooks() -> bool:
    """Halves round; PowerSGD loses nothing of a matrix when its rank is that of the matrix.

    PowerSGD has one bucket: of several, each would start its second allreduce when its own first has ended, which may
    be in another order on another rank.
    """
    full_rank = powerSGD_hook.PowerSGDState(
        None, matrix_approximation_rank=support.WIDTH, start_powerSGD_iter=2, min_compression_rate=0.1, warm_start=False
    )
    chosen = [
        ("allreduce hook", None, default_hooks.allreduce_hook, 1e-9),
        ("fp16 hook", None, default_hooks.fp16_compress_hook, 1e-3),
        ("bf16 hook", None, bf16_hook, 1e-2),
        ("PowerSGD hook", full_rank, powerSGD_hook.powerSGD_hook, 1e-9),
    ]
    expected = list(support.train_alone(dist.get_world_size()).parameters())
    good = True
    for name, state, hook, tolerance in chosen:
        model = ddp() if state is None else DistributedDataParallel(support.build_model())
        model.register_comm_hook(state, hook)
        good = support.compare(name, trained(model).parameters(), expected, tolerance) and good
    return good


def example() -> bool:
    return all([forms(), accumulation(), unused_parameters(), uneven_inputs(), hooks()])


if __name__ == "__main__":
    support.main(example)
