"""DistributedDataParallel over the backend equals training in one process."""

import copy

import pytest
import torch
import torch._dynamo  # noqa: F401  DDP needs it: here it is imported once, not by every rank
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

BATCH = 4
STEPS = 5


def model(dtype):
    torch.manual_seed(7)
    layers = torch.nn.Sequential(
        torch.nn.Linear(16, 64),
        torch.nn.LayerNorm(64),
        torch.nn.GELU(),
        torch.nn.Linear(64, 64),
        torch.nn.Linear(64, 4),
    )
    return layers.to(dtype)


def batch(step, rank, dtype):
    generator = torch.Generator().manual_seed(100 * step + rank)
    inputs = torch.randn(BATCH, 16, generator=generator, dtype=torch.float64).to(dtype)
    return inputs, inputs[:, :4].tanh()


def single_process(size, dtype):
    network = model(dtype)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        for rank in range(size):
            inputs, targets = batch(step, rank, dtype)
            (torch.nn.functional.mse_loss(network(inputs), targets) / size).backward()
        optimizer.step()
    return list(network.parameters())


def train(network, rank, dtype, accumulate=False):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        inputs, targets = batch(step, rank, dtype)
        if accumulate:
            with network.no_sync():
                (torch.nn.functional.mse_loss(network(inputs[:2]), targets[:2]) / 2).backward()
            (torch.nn.functional.mse_loss(network(inputs[2:]), targets[2:]) / 2).backward()
        else:
            torch.nn.functional.mse_loss(network(inputs), targets).backward()
        optimizer.step()
    return list(network.parameters())


def assert_same_everywhere(parameters):
    digest = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
    gathered = [torch.empty_like(digest) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, digest)
    assert all(torch.equal(other, digest) for other in gathered), "ranks differ"


def ddp_equals_single(rank, size, accumulate, view):
    dtype = torch.float64
    network = DistributedDataParallel(model(dtype), bucket_cap_mb=0.01, gradient_as_bucket_view=view)
    parameters = train(network, rank, dtype, accumulate)
    for mine, expected in zip(parameters, single_process(size, dtype), strict=True):
        torch.testing.assert_close(mine, expected, rtol=0, atol=1e-9)
    assert_same_everywhere(parameters)


@pytest.mark.parametrize("accumulate, view", [(False, False), (False, True), (True, True)])
def test_ddp_equals_one_process(world, accumulate, view):
    world.run(ddp_equals_single, accumulate=accumulate, view=view)


def ddp_with_hooks(rank, size):
    plain = train(DistributedDataParallel(model(torch.float32)), rank, torch.float32)

    def own_hook(state, bucket):
        work = dist.all_reduce(bucket.buffer().div_(size), async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    for hook, tolerance in [
        (own_hook, 1e-5),
        (default_hooks.allreduce_hook, 1e-5),
        (default_hooks.fp16_compress_hook, 1e-2),
    ]:
        network = DistributedDataParallel(model(torch.float32))
        network.register_comm_hook(None, hook)
        parameters = train(network, rank, torch.float32)
        assert_same_everywhere(parameters)
        for mine, expected in zip(parameters, plain, strict=True):
            torch.testing.assert_close(mine, expected, rtol=tolerance, atol=tolerance)


def test_ddp_with_communication_hooks(three_sites):
    three_sites.run(ddp_with_hooks)


class Branches(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.shared, self.a, self.b = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, inputs, branch):
        return (self.a if branch == 0 else self.b)(self.shared(inputs))


def unused_parameters(rank, size):
    network = DistributedDataParallel(Branches(), find_unused_parameters=True)
    reference = copy.deepcopy(network.module)
    for step in range(3):
        network.zero_grad()
        reference.zero_grad()
        network(torch.full((2, 4), 1.0 + rank + step), rank % 2).sum().backward()
        for peer in range(size):
            (reference(torch.full((2, 4), 1.0 + peer + step), peer % 2).sum() / size).backward()
        for mine, expected in zip(network.module.parameters(), reference.parameters(), strict=True):
            torch.testing.assert_close(mine.grad, expected.grad, rtol=1e-5, atol=1e-5)


def test_ddp_with_unused_parameters(three_sites):
    three_sites.run(unused_parameters)


def join_uneven(rank, size):
    network = DistributedDataParallel(model(torch.float32))
    with network.join():
        for step in range(5 if rank == 0 else 3):
            inputs, targets = batch(step, rank, torch.float32)
            torch.nn.functional.mse_loss(network(inputs), targets).backward()
    assert_same_everywhere(list(network.parameters()))


def test_ddp_join_with_uneven_inputs(three_sites):
    three_sites.run(join_uneven)


def sharded(rank, size):
    from torch.distributed.fsdp import fully_shard

    network = model(torch.float64)
    fully_shard(network, mesh=dist.init_device_mesh("cpu", (size,)))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        inputs, targets = batch(step, rank, torch.float64)
        torch.nn.functional.mse_loss(network(inputs), targets).backward()
        optimizer.step()
    for mine, expected in zip(network.parameters(), single_process(size, torch.float64), strict=True):
        torch.testing.assert_close(mine.full_tensor(), expected, rtol=0, atol=1e-9)


def test_fsdp2_equals_one_process(three_sites):
    three_sites.run(sharded)
