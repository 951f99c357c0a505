"""HSDP: parameters are sharded inside each site and replicated across sites, so only gradients cross the WAN.

The mesh has a dimension for sites and one for the ranks of a site. The group across sites gets a timeout and a
priority of its own; the groups inside a site send nothing over the WAN, which the counters prove. Ranks must be
numbered site by site.

    isthmus lab --sites 2 --ranks-per-site 2 --rate 100mbit --rtt 60ms -- python examples/04_hsdp/hsdp.py
"""

from __future__ import annotations

import datetime
import pathlib
import sys

import isthmus
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402

WAN_TIMEOUT = datetime.timedelta(seconds=45)


def make_mesh() -> DeviceMesh:
    names = isthmus.sites()
    sites = len(set(names))
    across = isthmus.Options(timeout=WAN_TIMEOUT, priority=1)
    return init_device_mesh(
        "cpu",
        (sites, len(names) // sites),
        mesh_dim_names=("site", "shard"),
        backend_override={"site": ("isthmus", across)},
    )


def own_timeout_across_sites(mesh: DeviceMesh) -> bool:
    backend = mesh["site"].get_group()._get_backend(torch.device("cpu"))
    return backend.options._timeout == WAN_TIMEOUT


def silent_on_the_wan(mesh: DeviceMesh) -> bool:
    """Collectives of the group inside the site, between two barriers of all ranks. Heartbeats are not payload."""
    dist.barrier()
    group, before = mesh["shard"].get_group(), isthmus.counters()["wan_sent_bytes"]
    for _ in range(4):
        dist.all_reduce(torch.ones(250_000), group=group)
    sent = isthmus.counters()["wan_sent_bytes"] - before
    dist.barrier()
    if dist.get_rank() == 0:
        print(f"4 allreduces of 1 MB inside the site sent {sent} bytes over the WAN", flush=True)
    return sent < 10_000


def example() -> bool:
    mesh = make_mesh()
    model = support.build_model()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    support.train(model, support.new_optimizer(model.parameters()), dist.get_rank())
    full = [parameter.full_tensor() for parameter in model.parameters()]
    expected = support.train_alone(dist.get_world_size())
    return all(
        [
            support.compare("HSDP", full, expected.parameters()),
            own_timeout_across_sites(mesh),
            silent_on_the_wan(mesh),
        ]
    )


if __name__ == "__main__":
    support.main(example)
