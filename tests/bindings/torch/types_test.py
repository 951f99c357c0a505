"""Every element type with every operator: reduced as the reference says, or refused with both names."""

import pytest
import torch
import torch.distributed as dist
from reference import BITWISE, COMPLEX, DTYPES, FLOAT8, FLOATS, INTEGERS, as_bytes, assert_reduced, values
from torch.distributed import ReduceOp

COUNT = 29
NAMES = {
    torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16",
    torch.int8: "Char", torch.uint8: "Byte", torch.int16: "Short", torch.int32: "Int", torch.int64: "Long",
    torch.bool: "Bool", torch.complex64: "ComplexFloat", torch.complex128: "ComplexDouble",
    torch.float8_e4m3fn: "Float8_e4m3fn", torch.float8_e5m2: "Float8_e5m2",
    torch.float8_e4m3fnuz: "Float8_e4m3fnuz", torch.float8_e5m2fnuz: "Float8_e5m2fnuz",
}  # fmt: skip


def is_supported(dtype, op):
    """The README's table."""
    if op in (ReduceOp.SUM, ReduceOp.PRODUCT):
        return dtype not in FLOAT8
    if op == ReduceOp.AVG:
        return dtype not in (*FLOAT8, torch.bool)
    if op in (ReduceOp.MIN, ReduceOp.MAX):
        return dtype not in (*FLOAT8, *COMPLEX)
    return dtype in (*INTEGERS, torch.bool)


def own_backend():
    return dist.group.WORLD._get_backend(torch.device("cpu"))


def reduce_in_place(tensor, op):
    """Through the backend itself: torch's own layer turns complex tensors into real ones, or refuses them first."""
    options = dist.AllreduceOptions()
    options.reduceOp = op
    own_backend().allreduce([tensor], options).wait()


def every_pair(rank, size):
    for dtype in DTYPES:
        inputs = [values(dtype, peer, COUNT) for peer in range(size)]
        for op in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.PRODUCT, *BITWISE):
            tensor = inputs[rank].clone()
            if is_supported(dtype, op):
                reduce_in_place(tensor, op)
                assert_reduced(tensor, inputs, op)
            else:
                name = str(op).split(".")[-1]
                with pytest.raises(NotImplementedError, match=f"allreduce with {name} of {NAMES[dtype]} tensors"):
                    reduce_in_place(tensor, op)
                assert as_bytes(tensor) == as_bytes(inputs[rank]), "a refused call changed its tensor"


def test_every_type_with_every_operator(world):
    world.run(every_pair)


def premul_factor(rank):
    """Exact in every type, and another one on each rank."""
    return 0.5 * (rank + 1)


def expect_premul(result, inputs, what):
    dtype = inputs[0].dtype
    scaled = [tensor * premul_factor(peer) for peer, tensor in enumerate(inputs)]
    assert scaled[0].dtype == dtype, what
    assert_reduced(result, scaled, ReduceOp.SUM)


def premul_forms(rank, size, dtype, op):
    """name, this rank's result, and what every rank put into it."""
    inputs = [values(dtype, peer, COUNT * size, 5) for peer in range(size)]
    blocks = [tensor.chunk(size)[rank] for tensor in inputs]

    tensor = inputs[rank].clone()
    dist.all_reduce(tensor, op)
    yield "all_reduce", tensor, inputs

    pair = [inputs[rank].clone(), blocks[rank].clone()]
    own_backend().allreduce_coalesced(pair, coalesced_options(op)).wait()
    yield "allreduce_coalesced", pair[0], inputs
    tensor = inputs[rank].clone()
    dist.reduce(tensor, 0, op)
    if rank == 0:
        yield "reduce", tensor, inputs
    output = torch.empty(COUNT, dtype=dtype)
    dist.reduce_scatter_tensor(output, inputs[rank].clone(), op)
    yield "reduce_scatter_tensor", output, blocks
    output = torch.empty(COUNT, dtype=dtype)
    dist.reduce_scatter(output, [part.clone() for part in inputs[rank].chunk(size)], op)
    yield "reduce_scatter", output, blocks
    outputs = [torch.empty(COUNT, dtype=dtype), torch.empty(COUNT, dtype=dtype)]
    with dist._coalescing_manager():
        for output in outputs:
            dist.reduce_scatter_tensor(output, inputs[rank].clone(), op)
    yield "reduce_scatter_tensor_coalesced", outputs[1], blocks


def coalesced_options(op):
    options = dist.AllreduceCoalescedOptions()
    options.reduceOp = op
    return options


def premul_sum(rank, size):
    for dtype in FLOATS:
        for factor in (premul_factor(rank), torch.tensor([premul_factor(rank)])):
            op = dist._make_nccl_premul_sum(factor)
            for name, result, inputs in premul_forms(rank, size, dtype, op):
                expect_premul(result, inputs, name)
    op = dist._make_nccl_premul_sum(premul_factor(rank))
    for dtype in COMPLEX:
        inputs = [values(dtype, peer, COUNT) for peer in range(size)]
        for call in (reduce_in_place, dist.all_reduce):
            tensor = inputs[rank].clone()
            call(tensor, op)
            expect_premul(tensor, inputs, f"{call.__name__} of {dtype}")
    for dtype in (*INTEGERS, torch.bool, *FLOAT8):
        with pytest.raises(NotImplementedError, match=f"allreduce with PREMUL_SUM of {NAMES[dtype]} tensors"):
            reduce_in_place(values(dtype, rank, COUNT), op)
    with pytest.raises(NotImplementedError, match="PREMUL_SUM and a complex factor"):
        reduce_in_place(torch.ones(3), dist._make_nccl_premul_sum(torch.tensor([1j])))


def test_premul_sum_in_every_form(world):
    world.run(premul_sum)


def complex_through_torch(rank, size):
    """torch's own layer: sums and averages of the parts; it refuses other operators by itself."""
    for dtype in COMPLEX:
        inputs = [values(dtype, peer, COUNT) for peer in range(size)]
        for op in (ReduceOp.SUM, ReduceOp.AVG):
            tensor = inputs[rank].clone()
            dist.all_reduce(tensor, op)
            assert_reduced(tensor, inputs, op)
        conjugated = inputs[rank].clone().conj()
        assert conjugated.is_conj()
        outputs = [torch.empty(COUNT, dtype=dtype) for _ in range(size)]
        own_backend().allgather([outputs], [conjugated]).wait()
        for output, tensor in zip(outputs, inputs, strict=True):
            assert torch.equal(output, tensor.conj())
        own_backend().allreduce([conjugated]).wait()
        assert_reduced(conjugated.resolve_conj(), [tensor.conj().resolve_conj() for tensor in inputs], ReduceOp.SUM)


def test_complex_tensors(three_sites):
    three_sites.run(complex_through_torch)
