"""Acceptance cases of training under DistributedDataParallel: communication hooks (PG)."""

import contextlib

import pytest
import torch
import torch._dynamo  # noqa: F401  DDP needs it: here it is imported once, not by every rank
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

ITERATIONS = 5


def network():
    torch.manual_seed(11)
    return torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 8), torch.nn.Linear(8, 2))


def loss_of(model, step, rank):
    generator = torch.Generator().manual_seed(31 * step + rank)
    return model(torch.randn(4, 8, generator=generator)).square().mean()


def gradients(model):
    return [parameter.grad.clone() for parameter in model.parameters()]


def same_tensor_hook(_state, bucket):
    work = dist.all_reduce(bucket.buffer().mul_(1 / dist.get_world_size()), async_op=True)  # as DDP itself scales
    return work.get_future().then(lambda done: done.value()[0])


def new_tensor_hook(_state, bucket):
    """Leaves the bucket as it was: what it returns has storage of its own."""
    result = bucket.buffer() * (1 / dist.get_world_size())
    work = dist.all_reduce(result, async_op=True)
    return work.get_future().then(lambda done: done.value()[0].clone())


def gradients_of_each_iteration(rank, hook, view, accumulate):
    model = DistributedDataParallel(network(), bucket_cap_mb=0.001, gradient_as_bucket_view=view)
    if hook is not None:
        model.register_comm_hook(None, hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    seen = []
    for step in range(ITERATIONS):
        optimizer.zero_grad()
        for part in range(accumulate):
            is_last = part == accumulate - 1
            with contextlib.nullcontext() if is_last else model.no_sync():
                loss_of(model, accumulate * step + part, rank).backward()
        seen.append(gradients(model))
        optimizer.step()
    return seen


def pg05(rank, size, view, accumulate):
    """A hook that computes what plain DDP computes gives the same bytes, in every iteration."""
    plain = gradients_of_each_iteration(rank, None, view, accumulate)
    for hook in (same_tensor_hook, new_tensor_hook):
        hooked = gradients_of_each_iteration(rank, hook, view, accumulate)
        for step, (expected, got) in enumerate(zip(plain, hooked, strict=True)):
            for one, other in zip(expected, got, strict=True):
                assert torch.isfinite(one).all() and torch.equal(one, other), f"{hook.__name__}, iteration {step}"


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("view", [False, True])
def test_pg05_a_hook_under_bucket_views_and_accumulation(three_sites, view, accumulate):
    three_sites.run(pg05, view=view, accumulate=accumulate)


class Branches(torch.nn.Module):
    """Two branches that some rank uses, and one that none does."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.shared = torch.nn.Linear(8, 8)
        self.branches = torch.nn.ModuleList(torch.nn.Linear(8, 2) for _ in range(3))

    def forward(self, inputs, branch):
        return self.branches[branch](self.shared(inputs))


def branch_gradients(rank, group):
    """Of three steps: rank 0 skips the second branch, rank 1 the first; None where there is no gradient."""
    model = DistributedDataParallel(Branches(), process_group=group, find_unused_parameters=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    steps = []
    for step in range(3):
        optimizer.zero_grad()
        inputs = torch.randn(4, 8, generator=torch.Generator().manual_seed(7 * step + rank))
        model(inputs, rank % 2).square().mean().backward()
        steps.append([None if p.grad is None else p.grad.clone() for p in model.parameters()])
        optimizer.step()
    unused = [p.detach() for p in model.module.branches[2].parameters()]
    return steps, unused


def pg06(rank, size):
    reference_group = dist.new_group(backend="gloo")
    mine, unused = branch_gradients(rank, None)
    reference, _ = branch_gradients(rank, reference_group)
    for got, expected in zip(mine, reference, strict=True):
        for one, other in zip(got, expected, strict=True):
            assert (one is None) == (other is None) and (one is None or torch.equal(one, other))
        assert got[-1] is None and got[-2] is None, "nobody used the third branch"
    for now, before in zip(unused, Branches().branches[2].parameters(), strict=True):
        assert torch.equal(now, before)
    dist.destroy_process_group(reference_group)


def test_pg06_parameters_that_some_or_all_ranks_do_not_use(pair):
    pair.run(pg06)


def pg07(rank, size):
    """5 and 3 batches: who ran out takes part with zeros, through the hook, which divides by the world's size."""
    counts = [5, 3]
    model, alone = DistributedDataParallel(network(), bucket_cap_mb=0.001), network()
    model.register_comm_hook(None, same_tensor_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    optimizer_alone = torch.optim.SGD(alone.parameters(), lr=0.05)
    with model.join():
        for step in range(counts[rank]):
            optimizer.zero_grad()
            loss_of(model, step, rank).backward()
            optimizer.step()
    for step in range(max(counts)):
        optimizer_alone.zero_grad()
        for peer in range(size):
            if step < counts[peer]:
                (loss_of(alone, step, peer) / size).backward()
        optimizer_alone.step()
    for mine, expected in zip(model.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-5, atol=1e-6)


def test_pg07_join_with_a_hook(pair):
    pair.run(pg07)
