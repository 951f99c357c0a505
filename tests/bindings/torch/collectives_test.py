"""Every operation of the backend, with every element type and operator, in every way of calling it."""

import pytest
import torch
import torch.distributed as dist
from reference import DTYPES, OPS, as_bytes, assert_reduced, joined, pairs, same, values
from torch.distributed import ReduceOp

COUNT = 37


def sync(call):
    assert call(async_op=False) is None


def by_wait(call):
    work = call(async_op=True)
    assert work.wait()
    assert work.is_completed() and work.is_success()


def by_future(call):
    call(async_op=True).get_future().wait()


WAYS = [sync, by_wait, by_future]


def allreduce_all_types(rank, size, way):
    results = []
    for index, (dtype, op) in enumerate(pairs()):
        inputs = [values(dtype, peer, COUNT, index) for peer in range(size)]
        tensor = inputs[rank].clone()
        way(lambda async_op, tensor=tensor, op=op: dist.all_reduce(tensor, op, async_op=async_op))
        assert_reduced(tensor, inputs, op)
        results.append(as_bytes(tensor))
    return results


@pytest.mark.parametrize("way", WAYS)
def test_allreduce_of_all_types_and_operators(world, way):
    results = world.run(allreduce_all_types, way=way)
    assert all(result == results[0] for result in results), "ranks differ in bytes"


def reduce_scatter_all_types(rank, size, way):
    for index, (dtype, op) in enumerate(pairs()):
        inputs = [values(dtype, peer, COUNT * size, index) for peer in range(size)]
        blocks = [tensor[rank * COUNT : (rank + 1) * COUNT] for tensor in inputs]
        flat, out = inputs[rank].clone(), torch.empty(COUNT, dtype=dtype)
        way(lambda async_op, a=out, b=flat, op=op: dist.reduce_scatter_tensor(a, b, op, async_op=async_op))
        assert_reduced(out, blocks, op)
        assert torch.equal(flat, inputs[rank]), "the input was overwritten"
        out, parts = torch.empty(COUNT, dtype=dtype), list(inputs[rank].clone().chunk(size))
        way(lambda async_op, a=out, b=parts, op=op: dist.reduce_scatter(a, b, op, async_op=async_op))
        assert_reduced(out, blocks, op)


@pytest.mark.parametrize("way", WAYS)
def test_reduce_scatter_of_all_types_and_operators(world, way):
    world.run(reduce_scatter_all_types, way=way)


def movement_all_types(rank, size, way):
    for index, dtype in enumerate(DTYPES):
        inputs = [values(dtype, peer, COUNT, index) for peer in range(size)]
        root = index % size
        tensor = inputs[rank].clone()
        way(lambda async_op, t=tensor, root=root: dist.broadcast(t, root, async_op=async_op))
        assert same(tensor, inputs[root])
        outputs = [torch.empty(COUNT, dtype=dtype) for _ in range(size)]
        way(lambda async_op, a=outputs, b=inputs[rank]: dist.all_gather(a, b, async_op=async_op))
        assert all(same(output, expected) for output, expected in zip(outputs, inputs, strict=True))
        flat = torch.empty(COUNT * size, dtype=dtype)
        way(lambda async_op, a=flat, b=inputs[rank]: dist.all_gather_into_tensor(a, b, async_op=async_op))
        assert same(flat, joined(inputs))
    way(lambda async_op: dist.barrier(async_op=async_op))


@pytest.mark.parametrize("way", WAYS)
def test_broadcast_allgather_barrier_of_all_types(world, way):
    world.run(movement_all_types, way=way)


def send_recv_all_types(rank, size):
    after, before = (rank + 1) % size, (rank - 1) % size
    for index, dtype in enumerate(DTYPES):
        received = torch.empty(COUNT, dtype=dtype)
        works = [
            dist.isend(values(dtype, rank, COUNT, index), after, tag=index),
            dist.irecv(received, before, tag=index),
        ]
        for work in works:
            work.wait()
        assert same(received, values(dtype, before, COUNT, index))
        assert works[1]._source_rank() == before
    if rank == 0:
        dist.send(torch.arange(5), 1)
    if rank == 1:
        received = torch.zeros(5, dtype=torch.int64)
        assert dist.recv(received, 0) == 0
        assert torch.equal(received, torch.arange(5))


def test_send_recv_of_all_types(world):
    world.run(send_recv_all_types)


def receive_from_anyone(rank, size):
    """Everybody else sends to rank 0, twice; what came says from whom it is."""
    if rank != 0:
        for turn in range(2):
            dist.send(torch.full((5,), 10.0 * rank + turn), 0, tag=7)
        return
    seen = []
    for _ in range(size - 1):
        tensor = torch.zeros(5)
        source = dist.recv(tensor, tag=7)
        seen.append((source, tensor[0].item()))
        work = dist.irecv(tensor, tag=7)
        work.wait()
        seen.append((work._source_rank(), tensor[-1].item()))
    assert sorted(value for _, value in seen) == sorted(
        10.0 * peer + turn for peer in range(1, size) for turn in (0, 1)
    )
    assert all(source == int(value) // 10 for source, value in seen), seen


def test_receive_from_any_source(world):
    world.run(receive_from_anyone)


def tags_match_out_of_order(rank, size):
    if rank == 0:
        works = [dist.isend(torch.full((3,), float(tag)), 1, tag=tag) for tag in (1, 2, 1)]
    elif rank == 1:
        tensors = [torch.zeros(3) for _ in range(3)]
        works = [dist.irecv(tensor, 0, tag=tag) for tensor, tag in zip(tensors, (2, 1, 1), strict=True)]
    else:
        works = []
    for work in works:
        work.wait()
    if rank == 1:
        assert [tensor[0].item() for tensor in tensors] == [2.0, 1.0, 1.0]


def test_tags_match_in_any_order(pair):
    pair.run(tags_match_out_of_order)


def coalesced_forms(rank, size):
    counts = (1, 5, 0, 64)
    inputs = [[values(torch.float32, peer, count, count) for count in counts] for peer in range(size)]
    tensors = [tensor.clone() for tensor in inputs[rank]]
    dist.all_reduce_coalesced(tensors, ReduceOp.SUM)
    for index, tensor in enumerate(tensors):
        assert_reduced(tensor, [inputs[peer][index] for peer in range(size)], ReduceOp.SUM)

    for op in OPS:
        with dist._coalescing_manager(async_ops=True) as manager:
            tensors = [tensor.clone() for tensor in inputs[rank]]
            for tensor in tensors:
                dist.all_reduce(tensor, op)
        manager.wait()
        for index, tensor in enumerate(tensors):
            assert_reduced(tensor, [inputs[peer][index] for peer in range(size)], op)

    outputs = [torch.empty(count * size) for count in counts]
    with dist._coalescing_manager():
        for output, tensor in zip(outputs, inputs[rank], strict=True):
            dist.all_gather_into_tensor(output, tensor)
    for index, output in enumerate(outputs):
        assert torch.equal(output, torch.cat([inputs[peer][index] for peer in range(size)]))

    for op in OPS:
        wholes = [[values(torch.float64, peer, count * size, count) for count in counts] for peer in range(size)]
        outputs = [torch.empty(count, dtype=torch.float64) for count in counts]
        with dist._coalescing_manager():
            for output, whole in zip(outputs, wholes[rank], strict=True):
                dist.reduce_scatter_tensor(output, whole, op)
        for index, output in enumerate(outputs):
            blocks = [wholes[peer][index].chunk(size)[rank] if counts[index] else output for peer in range(size)]
            assert_reduced(output, blocks, op)


def test_coalesced_forms(world):
    world.run(coalesced_forms)


def batch_of_p2p(rank, size):
    after, before = (rank + 1) % size, (rank - 1) % size
    received = [torch.zeros(100), torch.zeros(100)]
    batch = [
        dist.P2POp(dist.irecv, received[0], before),
        dist.P2POp(dist.isend, torch.full((100,), float(rank)), after),
        dist.P2POp(dist.isend, torch.full((100,), float(rank) + 0.5), after),
        dist.P2POp(dist.irecv, received[1], before),
    ]
    works = dist.batch_isend_irecv(batch)
    assert len(works) == 1, "a coalescing backend gives one work for the batch"
    for work in works:
        work.wait()
    assert received[0][0] == before and received[1][-1] == before + 0.5


def test_batch_isend_irecv(world):
    world.run(batch_of_p2p)


def results_of_works(rank, size):
    tensor = torch.full((3,), float(rank))
    work = dist.all_reduce(tensor, async_op=True)
    future = work.get_future()
    doubled = future.then(lambda done: done.value()[0] * 2)
    total = float(sum(range(size)))
    assert doubled.wait()[0] == 2 * total
    work.wait()
    assert future.done() and future.value()[0] is not None
    assert work.result()[0].data_ptr() == tensor.data_ptr()
    assert work.exception() is None
    chained = dist.all_reduce(torch.ones(1), async_op=True).get_future()
    second = chained.then(lambda done: dist.all_reduce(done.value()[0], async_op=True).get_future())
    assert second.wait().wait()[0].item() == size * size


def test_results_and_futures(world):
    world.run(results_of_works)


def callback_waits(rank, size):
    """As in torch's PowerSGD hook: a callback waits for another operation."""
    future = dist.all_reduce(torch.ones(1), async_op=True).get_future()
    for _ in range(3):
        future = future.then(lambda done: [dist.all_reduce(done.value()[0], async_op=True).get_future().wait()[0]])
    assert future.wait()[0].item() == size**4


def test_a_callback_may_wait_for_another_operation(world):
    world.run(callback_waits, limit_s=30)


def discarded_works(rank, size):
    for step in range(50):
        dist.all_reduce(torch.full((1000,), float(step)), async_op=True)
    tensor = torch.ones(4)
    dist.all_reduce(tensor)
    assert tensor[0] == size


def test_works_and_tensors_may_be_dropped(world):
    world.run(discarded_works)


def many_in_flight(rank, size):
    tensors = [torch.full((257 + index,), float(index)) for index in range(64)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for work in reversed(works):
        work.wait()
    assert all((tensor == index * size).all() for index, tensor in enumerate(tensors))


def test_many_in_flight(world):
    world.run(many_in_flight)


def object_collectives(rank, size):
    gathered = [None] * size
    dist.all_gather_object(gathered, {"rank": rank, "text": "x" * (100 * rank)})
    assert [item["rank"] for item in gathered] == list(range(size))
    objects = [{"from": 1}, 2] if rank == 1 else [None, None]
    dist.broadcast_object_list(objects, src=1)
    assert objects == [{"from": 1}, 2]


def test_object_collectives(world):
    world.run(object_collectives)


def functional_collectives(rank, size):
    import torch.distributed._functional_collectives as functional

    tensor = torch.full((4,), float(rank))
    total = functional.all_reduce(tensor, "sum", dist.group.WORLD)
    assert (total + 0)[0] == sum(range(size))
    gathered = functional.all_gather_tensor(tensor, 0, dist.group.WORLD)
    assert (gathered + 0).numel() == 4 * size
    scattered = functional.reduce_scatter_tensor(torch.ones(4 * size), "avg", 0, dist.group.WORLD)
    assert torch.equal(scattered + 0, torch.ones(4))


def test_functional_collectives(three_sites):
    three_sites.run(functional_collectives)


def two_groups(rank, size):
    evens = dist.new_group(range(0, size, 2))
    everyone = dist.new_group()
    mine, ours = torch.full((1000,), 1.0), torch.full((1000,), float(rank))
    first = dist.all_reduce(mine, group=evens, async_op=True) if rank % 2 == 0 else None
    second = dist.all_reduce(ours, group=everyone, async_op=True)
    second.wait()
    if first is not None:
        first.wait()
        assert mine[0] == len(range(0, size, 2))
    assert ours[-1] == sum(range(size))
    world = torch.ones(1)
    dist.all_reduce(world)
    assert world.item() == size
    if first is not None:
        dist.destroy_process_group(evens)
    dist.destroy_process_group(everyone)


def test_two_groups_at_once(world):
    world.run(two_groups)


def debug_detail(rank, size):
    level = dist.get_debug_level()
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    try:
        group = dist.new_group()
        tensor = torch.ones(5)
        dist.all_reduce(tensor, group=group)
        assert tensor[0] == size
        with pytest.raises(RuntimeError, match="mismatch|inconsistent"):
            dist.all_reduce(torch.ones(5 + rank), group=group)
        dist.destroy_process_group(group)
    finally:
        dist.set_debug_level(level)


def test_debug_level_detail_wraps_the_backend(pair):
    """TORCH_DISTRIBUTED_DEBUG=DETAIL puts torch's own checks around every call."""
    pair.run(debug_detail)


def own_backend():
    return dist.group.WORLD._get_backend(torch.device("cpu"))


def describes_itself(rank, size, sites):
    import isthmus

    backend = own_backend()
    assert backend.name() == "isthmus" and (backend.rank(), backend.size()) == (rank, size)
    assert dist.get_backend() == "isthmus"
    assert backend.supports_coalescing and backend.supports_splitting
    assert backend.options._timeout.total_seconds() == 30
    before = backend._get_sequence_number_for_group()
    dist.barrier()
    assert backend._get_sequence_number_for_group() == before + 1
    assert isthmus.sites() == sites
    for _ in range(100):
        before = isthmus.counters()["operations_completed"]
        dist.barrier()
        assert isthmus.counters()["operations_completed"] > before, "an operation that has ended is not counted"


def test_group_describes_itself(world):
    world.run(describes_itself, sites=world.sites)
