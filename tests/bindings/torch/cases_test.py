"""Acceptance cases: types (DT), shapes and sizes (SH)."""

import math

import pytest
import torch
import torch.distributed as dist
from reference import OPS, assert_reduced, same, values
from torch.distributed import ReduceOp
from world import World


def dt01(rank, size):
    rows = [[True, False, True, False], [False, False, True, False], [False, False, True, False]]
    either, both = torch.tensor(rows[0]), torch.tensor(rows[1])
    for op, expected in [
        (ReduceOp.SUM, either),
        (ReduceOp.MAX, either),
        (ReduceOp.PRODUCT, both),
        (ReduceOp.MIN, both),
    ]:
        tensor = torch.tensor(rows[rank])
        dist.all_reduce(tensor, op)
        assert tensor.dtype == torch.bool and torch.equal(tensor, expected)
        assert set(tensor.view(torch.uint8).tolist()) <= {0, 1}
    tensor = torch.tensor(rows[rank])
    dist.broadcast(tensor, 0)
    assert torch.equal(tensor, either)
    gathered = [torch.zeros(4, dtype=torch.bool) for _ in range(size)]
    dist.all_gather(gathered, torch.tensor(rows[rank]))
    assert [row.tolist() for row in gathered] == rows
    with pytest.raises(NotImplementedError, match="allreduce with AVG of Bool"):
        dist.all_reduce(torch.tensor(rows[rank]), ReduceOp.AVG)


def test_dt01_bool(three_sites):
    three_sites.run(dt01)


def dt03_forms(size):
    """name -> function(tensors, op): reduces whole tensors of size * 4 elements, returns this rank's result."""

    def all_reduce(tensor, op):
        dist.all_reduce(tensor, op)
        return tensor

    def all_reduce_coalesced(tensor, op):
        dist.all_reduce_coalesced([tensor, torch.ones(1)], op)
        return tensor

    def reduce_scatter(tensor, op):
        output = torch.empty(tensor.numel() // size)
        dist.reduce_scatter(output, list(tensor.chunk(size)), op)
        return output

    def reduce_scatter_tensor(tensor, op):
        output = torch.empty(tensor.numel() // size)
        dist.reduce_scatter_tensor(output, tensor, op)
        return output

    def reduce_scatter_coalesced(tensor, op):
        output = torch.empty(tensor.numel() // size)
        with dist._coalescing_manager():
            dist.reduce_scatter_tensor(output, tensor, op)
            dist.reduce_scatter_tensor(torch.empty(1), torch.ones(size), op)
        return output

    def reduce(tensor, op):
        dist.reduce(tensor, 0, op)
        return tensor

    return [all_reduce, all_reduce_coalesced, reduce_scatter, reduce_scatter_tensor, reduce_scatter_coalesced, reduce]


def dt03(rank, size):
    for form in dt03_forms(size):
        for op in OPS:
            inputs = [values(torch.float32, peer, 4 * size, 3) for peer in range(size)]
            result = form(inputs[rank].clone(), op)
            if form.__name__ == "reduce" and rank != 0:
                continue
            whole = result.numel() == 4 * size
            assert_reduced(result, inputs if whole else [tensor.chunk(size)[rank] for tensor in inputs], op)


def test_dt03_every_operator_in_every_form(three_sites):
    three_sites.run(dt03)


def dt05(rank, size):
    """SUM and AVG of complex numbers are right in every form; what means nothing for them is refused in every form."""
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    inputs = [values(torch.complex64, peer, 4 * size, 8) for peer in range(size)]
    blocks = [tensor.chunk(size)[rank] for tensor in inputs]

    def call(name, options, op, *tensors):
        options.reduceOp = op
        getattr(backend, name)(*tensors, options).wait()

    for op in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.BAND):
        whole, part = inputs[rank].clone(), torch.empty(4, dtype=torch.complex64)
        to_root = inputs[rank].clone()
        forms = [
            ("allreduce", dist.AllreduceOptions(), [[whole]], whole, inputs),
            ("reduce", dist.ReduceOptions(), [[to_root]], to_root if rank == 0 else None, inputs),
            ("_reduce_scatter_base", dist.ReduceScatterOptions(), [part, inputs[rank].clone()], part, blocks),
            ("reduce_scatter", dist.ReduceScatterOptions(), [[part], [list(inputs[rank].chunk(size))]], part, blocks),
        ]
        for name, options, tensors, result, expected in forms:
            if op in (ReduceOp.SUM, ReduceOp.AVG):
                call(name, options, op, *tensors)
                if result is not None:
                    assert_reduced(result, expected, op)
            else:
                with pytest.raises(NotImplementedError, match=f"{name} with .* of ComplexFloat"):
                    call(name, options, op, *tensors)


def test_dt05_complex(three_sites):
    three_sites.run(dt05)


def dt09(rank, size):
    """AVG of halves neither overflows nor loses the smallest of them; their SUM is infinite on every rank."""
    for value in (40000.0, 2.0**-24):
        tensor = torch.full((7,), value, dtype=torch.float16)
        dist.all_reduce(tensor, ReduceOp.AVG)
        assert (tensor == value).all(), tensor
    tensor = torch.full((7,), 40000.0, dtype=torch.float16)
    dist.all_reduce(tensor)
    assert torch.isinf(tensor).all(), tensor


def test_dt09_average_of_halves(two_by_two):
    two_by_two.run(dt09)


def dt07(rank, size):
    big = 2**53 + 1
    columns = [[big] * size, [-(2**53)] * size, [2**62] * size, [big, -big, 1], [2**63 - 1] * size]
    tensor = torch.tensor([column[rank] for column in columns])
    dist.all_reduce(tensor)
    wrapped = [(sum(column[:size]) + 2**63) % 2**64 - 2**63 for column in columns]
    assert tensor.tolist() == wrapped
    many = torch.full((100_003,), big + rank)
    dist.all_reduce(many)
    assert (many == big * size + sum(range(size))).all()
    average = torch.tensor([-(2**53) - rank, 7 * rank])
    dist.all_reduce(average, ReduceOp.AVG)
    totals = [sum(-(2**53) - peer for peer in range(size)), sum(7 * peer for peer in range(size))]
    assert average.tolist() == [
        math.trunc(total / size) if abs(total) < 2**53 else -(-total // size) for total in totals
    ]


def test_dt07_int64_is_exact(three_sites):
    three_sites.run(dt07)


def finish(work, is_async):
    if is_async:
        work.wait()


def every_collective(rank, size, shape, is_async):
    whole = (size * math.prod(shape),)

    def filled(value, shape=shape):
        return torch.full(shape, float(value))

    tensor = filled(rank)
    finish(dist.all_reduce(tensor, async_op=is_async), is_async)
    assert torch.equal(tensor, filled(sum(range(size))))
    tensor = filled(rank)
    finish(dist.broadcast(tensor, 1, async_op=is_async), is_async)
    assert torch.equal(tensor, filled(1))
    outputs = [filled(-1) for _ in range(size)]
    finish(dist.all_gather(outputs, filled(rank), async_op=is_async), is_async)
    assert all(torch.equal(output, filled(peer)) for peer, output in enumerate(outputs))
    flat = filled(-1, whole)
    finish(dist.all_gather_into_tensor(flat, filled(rank).reshape(-1), async_op=is_async), is_async)
    assert torch.equal(flat, torch.cat([filled(peer).reshape(-1) for peer in range(size)]))
    output = filled(-1)
    finish(dist.reduce_scatter(output, [filled(rank) for _ in range(size)], async_op=is_async), is_async)
    assert torch.equal(output, filled(sum(range(size))))
    output = filled(-1).reshape(-1)
    finish(dist.reduce_scatter_tensor(output, filled(rank, whole), async_op=is_async), is_async)
    assert torch.equal(output, filled(sum(range(size))).reshape(-1))
    received = filled(-1)
    works = [dist.isend(filled(rank), (rank + 1) % size), dist.irecv(received, (rank - 1) % size)]
    for work in works:
        work.wait()
    assert torch.equal(received, filled((rank - 1) % size))


def sh01(rank, size):
    for shape in [(0,), (1, 0, 2), ()]:
        for is_async in (False, True):
            every_collective(rank, size, shape, is_async)
    every_collective(rank, size, (3, 5), False)


def test_sh01_empty_and_scalar_tensors(world):
    world.run(sh01)


def sh03(rank, size, first, others):
    group = dist.new_group()
    count = first if rank == 0 else others
    with pytest.raises((ValueError, dist.DistBackendError)) as caught:
        dist.all_reduce(torch.ones(count), group=group)
    assert str(first) in str(caught.value) and str(others) in str(caught.value), str(caught.value)
    dist.destroy_process_group(group)
    dist.barrier()


@pytest.mark.parametrize("first, others", [(409600, 409598), (100, 32_000_000)])
def test_sh03_sizes_that_differ(three_sites, first, others):
    three_sites.run(sh03, first=first, others=others)


def sh05(rank, size):
    """Roots that differ are an error on both ranks."""
    calls = [
        lambda group: dist.reduce(torch.ones(3), rank, group=group),
        lambda group: dist.broadcast(torch.ones(3), rank, group=group),
        lambda group: dist.gather(torch.ones(3), [torch.ones(3), torch.ones(3)], rank, group=group),
    ]
    for call in calls:
        group = dist.new_group()
        with pytest.raises((ValueError, dist.DistBackendError)):
            call(group)
            dist.barrier(group=group)  # a root that had all it needed hears of it here at the latest
        dist.destroy_process_group(group)
        dist.barrier()


def test_sh05_roots_that_differ(pair):
    pair.run(sh05)


def sh12(rank, size):
    """7 rows over 3 ranks: each gets its own slice."""
    rows = [3, 2, 2]
    whole = torch.arange(7.0 * 4).reshape(7, 4)
    output = torch.zeros(rows[rank], 4)
    dist.reduce_scatter(output, list(whole.split(rows)))
    assert torch.equal(output, whole.split(rows)[rank] * size)


def test_sh12_rows_that_do_not_divide(three_sites):
    three_sites.run(sh12)


def sh06(rank, size):
    """A message of another size than the receive: both sizes in the receiver's error; the pair goes on."""
    for sent, expected in [(3, 4), (5, 4), (0, 4), (200_000, 7)]:
        if rank == 0:
            dist.send(torch.ones(sent), 1)
        else:
            with pytest.raises((ValueError, dist.DistBackendError)) as raised:
                dist.recv(torch.zeros(expected), 0)
            assert str(sent) in str(raised.value) and str(expected) in str(raised.value), raised.value
        tensor = torch.full((3,), float(rank))
        if rank == 0:
            dist.send(tensor, 1)
        else:
            dist.recv(tensor, 0)
            assert (tensor == 0).all()


def test_sh06_a_message_of_another_size(pair):
    pair.run(sh06)


def dt12(rank, size, count):
    """A block reduced alone, as four repeats in a larger tensor, and after two further groups. Returns its bytes."""
    block = torch.randn(count, generator=torch.Generator().manual_seed(rank))
    alone, repeated, again = block.clone(), block.repeat(4), block.clone()
    dist.all_reduce(alone)
    dist.all_reduce(repeated)
    for part in repeated.chunk(4):
        assert same(part, alone)
    groups = [dist.new_group(), dist.new_group()]
    dist.all_reduce(again, group=groups[1])
    assert same(again, alone)
    dist.all_reduce(again.copy_(block))
    assert same(again, alone)
    for group in groups:
        dist.destroy_process_group(group)
    return alone.numpy().tobytes()


@pytest.mark.parametrize("count", [1, 1000, 300_001])
def test_dt12_deterministic_results_repeat(count):
    results = []
    for _ in range(2):  # a restart
        world = World(
            ["a", "b", "a", "c"], ISTHMUS_DETERMINISTIC="on", ISTHMUS_CHUNK_BYTES="65536", ISTHMUS_SEGMENT_BYTES="65536"
        )
        results += world.run(dt12, count=count)
        world.stop()
    assert len(set(results)) == 1


def sh08(rank, size, times):
    peer = 1 - rank
    sent = torch.full((2 * 1024 * 1024,), float(rank))
    for step in range(times):
        received = torch.zeros_like(sent)
        works = [dist.isend(sent, peer), dist.irecv(received, peer)]
        if step % 2:
            works.reverse()
        for work in works:
            work.wait()
        assert received[0] == peer and received[-1] == peer


def test_sh08_send_before_receive_on_both_sides(pair):
    pair.run(sh08, times=20, limit_s=100)
