"""FSDP2 over all ranks: parameters are sharded, gathered for each layer, and gradients are reduce-scattered.

Gradients are reduced in three ways, each compared with one process on the same batches: by AVG; with a divisor of one's
own, which becomes PREMUL_SUM; and in fp16, where FSDP2 divides before and after a SUM.

    isthmus lab --sites 2 --ranks-per-site 2 --rate 100mbit --rtt 60ms -- python examples/03_fsdp2/fsdp2.py
"""

from __future__ import annotations

import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402


def shard(model: nn.Module, **options) -> nn.Module:
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def full(model: nn.Module) -> list[torch.Tensor]:
    return [parameter.full_tensor() for parameter in model.parameters()]


def average() -> bool:
    model = shard(support.build_model())
    support.train(model, support.new_optimizer(model.parameters()), dist.get_rank())
    expected = support.train_alone(dist.get_world_size())
    return support.compare("AVG", full(model), expected.parameters())


def own_divisor() -> bool:
    """Dividing by twice the number of ranks is half of the mean."""
    world = dist.get_world_size()
    model = shard(support.build_model())
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.set_gradient_divide_factor(2.0 * world)
    support.train(model, support.new_optimizer(model.parameters()), dist.get_rank())
    expected = support.train_alone(world, scale=0.5)
    return support.compare("PREMUL_SUM", full(model), expected.parameters())


def half_precision() -> bool:
    policy = MixedPrecisionPolicy(param_dtype=torch.float32, reduce_dtype=torch.float16)
    model = shard(support.build_model(torch.float32), mp_policy=policy)
    support.train(model, support.new_optimizer(model.parameters()), dist.get_rank(), torch.float32)
    expected = support.train_alone(dist.get_world_size(), torch.float32)
    return support.compare("fp16, divided before and after", full(model), expected.parameters(), 5e-3)


def example() -> bool:
    return all([average(), own_divisor(), half_precision()])


if __name__ == "__main__":
    support.main(example)
