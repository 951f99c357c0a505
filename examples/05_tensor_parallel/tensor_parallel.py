"""Tensor parallel inside each site with DTensor, data parallel across sites.

The two matrices of a block are split by columns, then by rows: one allreduce inside the site per pass. Gradients are
averaged across sites. Ranks must be numbered site by site.

    isthmus lab --sites 2 --ranks-per-site 2 --rate 100mbit --rtt 60ms -- \\
        python examples/05_tensor_parallel/tensor_parallel.py
"""

from __future__ import annotations

import pathlib
import sys

import isthmus
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402


def average_across_sites(model: nn.Module, group: dist.ProcessGroup) -> None:
    for parameter in model.parameters():
        gradient = parameter.grad.to_local() if hasattr(parameter.grad, "to_local") else parameter.grad
        dist.all_reduce(gradient, dist.ReduceOp.AVG, group=group)


def example() -> bool:
    names = isthmus.sites()
    sites = len(set(names))
    mesh = init_device_mesh("cpu", (sites, len(names) // sites), mesh_dim_names=("site", "tensor"))
    model = support.build_model()
    parallelize_module(model, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    optimizer = support.new_optimizer(model.parameters())
    for step in range(support.STEPS):
        optimizer.zero_grad()
        inputs, targets = support.batch(step, mesh.get_local_rank("site"))
        support.loss_of(model(inputs), targets).backward()
        average_across_sites(model, mesh["site"].get_group())
        optimizer.step()
    full = [p.full_tensor() if hasattr(p, "full_tensor") else p for p in model.parameters()]
    expected = support.train_alone(sites)
    return support.compare("tensor parallel", full, expected.parameters())


if __name__ == "__main__":
    support.main(example)
