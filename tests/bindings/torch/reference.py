"""Inputs that every rank can compute for every rank, and what the collectives make of them."""

import functools

import torch
from torch.distributed import ReduceOp

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
COMPLEX = [torch.complex64, torch.complex128]
DTYPES = [*FLOATS, *INTEGERS, torch.bool, *FLOAT8, *COMPLEX]
OPS = [ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.PRODUCT]
BITWISE = {ReduceOp.BAND: torch.bitwise_and, ReduceOp.BOR: torch.bitwise_or, ReduceOp.BXOR: torch.bitwise_xor}


def pairs():
    """Every (dtype, op) that torch's functions hand to a backend as they are, and that has a meaning."""
    real = [(dtype, op) for dtype in (*FLOATS, *INTEGERS, torch.bool) for op in OPS]
    bits = [(dtype, op) for dtype in (*INTEGERS, torch.bool) for op in BITWISE]
    return [pair for pair in real + bits if pair != (torch.bool, ReduceOp.AVG)]


def values(dtype, rank, count, seed=0):
    generator = torch.Generator().manual_seed(1000 * seed + rank)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=generator).to(torch.bool)
    if dtype.is_complex:
        return torch.randn(count, generator=generator, dtype=torch.complex128).to(dtype)
    if dtype.is_floating_point:
        return torch.randn(count, generator=generator, dtype=torch.float64).to(dtype)
    low = 0 if dtype == torch.uint8 else -5
    return torch.randint(low, 6, (count,), generator=generator).to(dtype)


def _reduce_bool(stack, op):
    return stack.any(0) if op in (ReduceOp.SUM, ReduceOp.MAX) else stack.all(0)


def _reduce_wide(stack, op, size):
    if op == ReduceOp.SUM:
        return stack.sum(0)
    if op == ReduceOp.AVG:
        total = stack.sum(0)
        return torch.div(total, size, rounding_mode="trunc" if total.dtype == torch.int64 else None)
    if op == ReduceOp.MIN:
        return stack.amin(0)
    if op == ReduceOp.MAX:
        return stack.amax(0)
    return stack.prod(0)


def reduced(tensors, op):
    """`op` over the list: floats in fp64, rounded once at the end; integers exactly (no sum of values() overflows)."""
    dtype = tensors[0].dtype
    if op in BITWISE:
        return functools.reduce(BITWISE[op], tensors)
    if dtype == torch.bool:
        return _reduce_bool(torch.stack(tensors), op)
    wide = torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else torch.int64
    return _reduce_wide(torch.stack([tensor.to(wide) for tensor in tensors]), op, len(tensors)).to(dtype)


def assert_reduced(result, tensors, op):
    """Equal to the reference; floats to a few roundings of their type (halves: twice, once per tier)."""
    expected = reduced(tensors, op)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    tolerance = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 1e-5, torch.float64: 1e-12}
    tolerance |= {torch.complex64: 1e-5, torch.complex128: 1e-12}
    if expected.dtype in tolerance:
        limit = tolerance[expected.dtype]
        torch.testing.assert_close(result, expected, rtol=limit, atol=limit)
    else:
        assert torch.equal(result, expected), f"{result} != {expected}"


def as_bytes(tensor):
    return tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes()


def same(tensor, expected):
    """Equal in type, shape and bytes; torch.equal does not know every type."""
    return tensor.dtype == expected.dtype and tensor.shape == expected.shape and as_bytes(tensor) == as_bytes(expected)


def joined(tensors):
    """torch.cat, which does not know every type either."""
    return torch.cat([tensor.view(torch.uint8) for tensor in tensors]).view(tensors[0].dtype)
