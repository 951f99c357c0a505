"""Every operation, in every way of calling it, with every type that it takes.

The ways: wait for a synchronous call, discard what it returns, wait for the work, let go of the work while the
operation is in flight, let go of the inputs too. An operation is a function (rank, size, dtype) -> Call.
"""

from dataclasses import dataclass

import pytest
import torch
import torch.distributed as dist
from reference import COMPLEX, DTYPES, FLOATS, INTEGERS, same, values

COUNT = 23
REDUCED = [*FLOATS, *INTEGERS, *COMPLEX]


@dataclass
class Call:
    start: object  # start(inputs, async_op) -> work or None
    inputs: list
    outputs: list
    expected: list


def sync(call):
    call.start(call.inputs, False)


def sync_discard(call):
    call.start(call.inputs, False)
    del call.inputs[:]


def wait_for_work(call):
    call.start(call.inputs, True).wait()


def early_reset(call):
    work = call.start(call.inputs, True)
    future = work.get_future()
    del work
    future.wait()


def input_deleted(call):
    future = call.start(call.inputs, True).get_future()
    call.inputs.clear()
    scratch = [torch.full((COUNT * 8,), 77.0) for _ in range(16)]
    future.wait()
    del scratch


WAYS = [sync, sync_discard, wait_for_work, early_reset, input_deleted]


def blank(dtype, count=COUNT):
    return torch.zeros(count, dtype=dtype)


def total(tensors):
    """Exactly what SUM gives: values() are small, and halves are summed in fp32 here as there."""
    wide = torch.float32 if tensors[0].dtype in (torch.float16, torch.bfloat16) else tensors[0].dtype
    result = tensors[0].to(wide)
    for tensor in tensors[1:]:
        result = result + tensor.to(wide)
    return result.to(tensors[0].dtype)


def of_all(dtype, size, count=COUNT):
    return [values(dtype, peer, count) for peer in range(size)]


def all_reduce(rank, size, dtype):
    everyone = of_all(dtype, size)
    mine = everyone[rank].clone()
    return Call(lambda _, a, t=mine: dist.all_reduce(t, async_op=a), [], [mine], [total(everyone)])


def reduce(rank, size, dtype):
    everyone = of_all(dtype, size)
    mine = everyone[rank].clone()
    outputs, expected = ([mine], [total(everyone)]) if rank == 1 else ([], [])
    return Call(lambda i, a: dist.reduce(i[0], 1, async_op=a), [mine], outputs, expected)


def broadcast(rank, size, dtype):
    everyone = of_all(dtype, size)
    tensor = everyone[1].clone() if rank == 1 else blank(dtype)
    return Call(lambda _, a: dist.broadcast(tensor, 1, async_op=a), [], [tensor], [everyone[1]])


def all_gather(rank, size, dtype):
    everyone = of_all(dtype, size)
    outputs = [blank(dtype) for _ in range(size)]
    return Call(lambda i, a: dist.all_gather(outputs, i[0], async_op=a), [everyone[rank].clone()], outputs, everyone)


def all_gather_uneven(rank, size, dtype):
    everyone = [values(dtype, peer, COUNT + 3 * peer) for peer in range(size)]
    outputs = [blank(dtype, COUNT + 3 * peer) for peer in range(size)]
    return Call(lambda i, a: dist.all_gather(outputs, i[0], async_op=a), [everyone[rank].clone()], outputs, everyone)


def all_gather_into_tensor(rank, size, dtype):
    everyone = of_all(dtype, size)
    output = blank(dtype, COUNT * size)
    start = lambda i, a: dist.all_gather_into_tensor(output, i[0], async_op=a)  # noqa: E731
    return Call(start, [everyone[rank].clone()], list(output.split(COUNT)), everyone)


def gather(rank, size, dtype):
    everyone = of_all(dtype, size)
    outputs = [blank(dtype) for _ in range(size)] if rank == 1 else None
    start = lambda i, a: dist.gather(i[0], outputs, 1, async_op=a)  # noqa: E731
    return Call(start, [everyone[rank].clone()], outputs or [], everyone if rank == 1 else [])


def scatter(rank, size, dtype):
    everyone = of_all(dtype, size)
    output = blank(dtype)
    inputs = [tensor.clone() for tensor in everyone] if rank == 1 else []
    start = lambda i, a: dist.scatter(output, list(i) if rank == 1 else None, 1, async_op=a)  # noqa: E731
    return Call(start, inputs, [output], [everyone[rank]])


def reduce_scatter(rank, size, dtype):
    everyone = of_all(dtype, size, COUNT * size)
    output = blank(dtype)
    start = lambda i, a: dist.reduce_scatter(output, list(i), async_op=a)  # noqa: E731
    expected = total(everyone)[rank * COUNT : (rank + 1) * COUNT]
    return Call(start, [part.clone() for part in everyone[rank].split(COUNT)], [output], [expected])


def reduce_scatter_uneven(rank, size, dtype):
    counts = [COUNT + 2 * peer for peer in range(size)]
    everyone = of_all(dtype, size, sum(counts))
    output = blank(dtype, counts[rank])
    start = lambda i, a: dist.reduce_scatter(output, list(i), async_op=a)  # noqa: E731
    return Call(
        start, [p.clone() for p in everyone[rank].split(counts)], [output], [total(everyone).split(counts)[rank]]
    )


def reduce_scatter_tensor(rank, size, dtype):
    everyone = of_all(dtype, size, COUNT * size)
    output = blank(dtype)
    start = lambda i, a: dist.reduce_scatter_tensor(output, i[0], async_op=a)  # noqa: E731
    return Call(start, [everyone[rank].clone()], [output], [total(everyone).split(COUNT)[rank]])


def all_to_all(rank, size, dtype):
    """Rank i sends i + j + 1 elements to rank j."""
    everyone = [[values(dtype, i * size + j, i + j + 1) for j in range(size)] for i in range(size)]
    outputs = [blank(dtype, peer + rank + 1) for peer in range(size)]
    start = lambda i, a: dist.all_to_all(outputs, list(i), async_op=a)  # noqa: E731
    return Call(start, [t.clone() for t in everyone[rank]], outputs, [everyone[peer][rank] for peer in range(size)])


def all_to_all_single(rank, size, dtype):
    everyone = of_all(dtype, size, COUNT * size)
    output = blank(dtype, COUNT * size)
    start = lambda i, a: dist.all_to_all_single(output, i[0], async_op=a)  # noqa: E731
    return Call(start, [everyone[rank].clone()], list(output.split(COUNT)), [t.split(COUNT)[rank] for t in everyone])


def all_to_all_single_uneven(rank, size, dtype):
    """Rows of two; rank i sends i + j rows to rank j, so rank 0 sends itself none."""
    rows = [[i + j for j in range(size)] for i in range(size)]
    everyone = [values(dtype, i, 2 * sum(rows[i])).view(-1, 2) for i in range(size)]
    own = [rows[peer][rank] for peer in range(size)]
    output = torch.zeros(sum(own), 2, dtype=dtype)
    start = lambda i, a: dist.all_to_all_single(output, i[0], own, rows[rank], async_op=a)  # noqa: E731
    expected = [everyone[peer].split(rows[peer])[rank] for peer in range(size)]
    return Call(start, [everyone[rank].clone()], list(output.split(own)), expected)


REDUCTIONS = [all_reduce, reduce, reduce_scatter, reduce_scatter_uneven, reduce_scatter_tensor]
MOVEMENTS = [
    broadcast, all_gather, all_gather_uneven, all_gather_into_tensor, gather, scatter, all_to_all, all_to_all_single,
    all_to_all_single_uneven,
]  # fmt: skip


def assert_equal(output, expected, what):
    """In every byte, but for sums of floats, which another order rounds otherwise."""
    if same(output, expected):
        return
    limit = {torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(expected.dtype, 1e-5)
    assert expected.dtype in (*FLOATS, *COMPLEX), f"{what}: {output} != {expected}"
    torch.testing.assert_close(output, expected, rtol=limit, atol=limit, msg=lambda text: f"{what}: {text}")


def every_operation(rank, size, way):
    for operations, dtypes in ((REDUCTIONS, REDUCED), (MOVEMENTS, DTYPES)):
        for operation in operations:
            for dtype in dtypes:
                call = operation(rank, size, dtype)
                way(call)
                for output, expected in zip(call.outputs, call.expected, strict=True):
                    assert_equal(output, expected, f"{operation.__name__} of {dtype}")


@pytest.mark.parametrize("way", WAYS)
def test_every_operation_of_every_type(world, way):
    world.run(every_operation, way=way, limit_s=250)
