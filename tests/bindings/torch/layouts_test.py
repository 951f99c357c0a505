"""Tensors that are not plain: strides, views, aliases, gradients. And what is refused before anything is sent."""

import pytest
import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

WRITABLE = 4


def strided(rank):
    """A (4, 3) tensor with the elements rank*100 + 0..11, laid out in five ways. The last is a view that negates, which
    torch's dispatcher resolves into a copy: it can only be an input."""
    base = (torch.arange(12.0) + 100 * rank).reshape(4, 3)
    transposed = base.t().contiguous().t()
    sliced = torch.zeros(4, 6)
    sliced[:, ::2] = base
    wide = torch.zeros(2, 4, 3, 5)
    wide[1, :, :, 2] = base
    negative = torch.complex(torch.zeros(4, 3), -base).conj().imag
    assert negative.is_neg()
    return base, [base.clone(), transposed, sliced[:, ::2], wide[1, :, :, 2], negative]


def non_contiguous(rank, size):
    bases = [strided(peer)[0] for peer in range(size)]
    total = torch.stack(bases).sum(0)
    for index in range(5):
        if index < WRITABLE:
            tensor = strided(rank)[1][index]
            dist.all_reduce(tensor)
            assert torch.equal(tensor, total), f"layout {index}"
            tensor = strided(rank)[1][index]
            dist.broadcast(tensor, 1)
            assert torch.equal(tensor, bases[1])
        outputs = [torch.zeros(4, 6)[:, ::2] for _ in range(size)]
        dist.all_gather(outputs, strided(rank)[1][index])
        assert all(torch.equal(output, base) for output, base in zip(outputs, bases, strict=True))
        output = torch.zeros(3, 4).t()
        dist.reduce_scatter(output, [strided(rank)[1][index] for _ in range(size)])
        assert torch.equal(output, total)
        received = torch.zeros(4, 6)[:, ::2]
        works = [dist.isend(strided(rank)[1][index], (rank + 1) % size), dist.irecv(received, (rank - 1) % size)]
        for work in works:
            work.wait()
        assert torch.equal(received, bases[(rank - 1) % size])


def test_non_contiguous_tensors(three_sites):
    three_sites.run(non_contiguous)


def layouts_that_differ_between_ranks(rank, size):
    tensor = strided(rank)[1][rank % 3]
    dist.all_reduce(tensor)
    assert torch.equal(tensor, torch.stack([strided(peer)[0] for peer in range(size)]).sum(0))


def test_layouts_that_differ_between_ranks(three_sites):
    three_sites.run(layouts_that_differ_between_ranks)


def gaps_stay_untouched(rank, size):
    whole = torch.full((4, 6), 7.0)
    whole[:, ::2] = 1.0
    dist.all_reduce(whole[:, ::2])
    assert (whole[:, ::2] == size).all() and (whole[:, 1::2] == 7.0).all()


def test_gaps_between_elements_stay_untouched(three_sites):
    three_sites.run(gaps_stay_untouched)


def aliases(rank, size):
    own = torch.full((5,), float(rank))
    outputs = [own if peer == rank else torch.zeros(5) for peer in range(size)]
    dist.all_gather(outputs, own)
    assert [output[0].item() for output in outputs] == list(range(size))
    shared = torch.zeros(5)
    dist.all_gather([shared] * size, torch.full((5,), float(rank)))
    assert shared[0].item() in range(size)
    flat = torch.full((5 * size,), float(rank))
    dist.all_gather_into_tensor(flat, flat[5 * rank : 5 * (rank + 1)])
    assert torch.equal(flat, torch.arange(float(size)).repeat_interleave(5))
    flat = torch.full((5 * size,), float(rank))
    dist.all_gather_into_tensor(flat, flat[2:7])
    assert torch.equal(flat, torch.arange(float(size)).repeat_interleave(5))
    flat = torch.arange(5.0 * size)
    dist.reduce_scatter_tensor(flat[5 * rank : 5 * (rank + 1)], flat)
    expected = torch.arange(5.0 * size)
    expected[5 * rank : 5 * (rank + 1)] *= size
    assert torch.equal(flat, expected), "blocks of other ranks were overwritten"


def test_outputs_that_alias_inputs(three_sites):
    three_sites.run(aliases)


def gradients(rank, size):
    parameter = torch.nn.Parameter(torch.full((3, 2), float(rank)))
    dist.all_reduce(parameter)
    assert parameter[0, 0].item() == sum(range(size)) and parameter.requires_grad
    transposed = torch.nn.Parameter(torch.full((3, 2), float(rank)).t())
    dist.broadcast(transposed, 0)
    assert transposed[0, 0].item() == 0
    with torch.inference_mode():
        tensor = torch.full((3, 2), float(rank)).t()
    dist.all_reduce(tensor)
    assert tensor[0, 0].item() == sum(range(size))


def test_parameters_and_inference_tensors(three_sites):
    three_sites.run(gradients)


def reduce_complex_max(backend, tensor):
    options = dist.ReduceOptions()
    options.reduceOp, options.rootRank = ReduceOp.MAX, 0
    backend.reduce([tensor.to(torch.complex64)], options)


def refusals(rank, size):
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    sequence = backend._get_sequence_number_for_group()
    ones = torch.ones(size * 2)

    def refused(error, pattern, call, *arguments, **options):
        with pytest.raises(error, match=pattern):
            call(*arguments, **options)

    refused(NotImplementedError, "layout Sparse", dist.all_reduce, torch.eye(2).to_sparse())
    for op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        name = str(op).split(".")[-1]
        refused(NotImplementedError, f"allreduce with {name} of Float", dist.all_reduce, ones, op)
    refused(NotImplementedError, "reduce .*ComplexFloat", reduce_complex_max, backend, ones)
    refused(NotImplementedError, "allreduce with AVG of Bool", dist.all_reduce, ones.bool(), ReduceOp.AVG)
    refused(
        NotImplementedError, "_reduce_scatter_base with BXOR", dist.reduce_scatter_tensor, ones[:2], ones, ReduceOp.BXOR
    )
    refused(NotImplementedError, "allreduce with SUM of Float8", dist.all_reduce, ones.to(torch.float8_e4m3fn))
    refused(NotImplementedError, "send of UInt16", dist.send, ones.to(torch.uint16), (rank + 1) % size)
    refused(NotImplementedError, "on meta", backend.allreduce, [torch.ones(2, device="meta")])
    refused(ValueError, "takes one tensor", backend.allreduce, [ones, ones])
    wrong = [ones[: 3 if peer == rank else 2] for peer in range(size)]
    refused(ValueError, f"tensor {rank} of the list has 3", backend.allgather, [wrong], [ones[:2]])
    if rank == 0:
        refused(ValueError, "tensor 1 of the list has 3", dist.scatter, ones[:2], [ones[:2], ones[:3], ones[:2]])
    refused(ValueError, "add up to 5", dist.all_to_all_single, ones, ones, None, [1, 2, 2])
    refused(ValueError, "5 elements against", backend._allgather_base, torch.ones(5), ones[:2])
    refused(ValueError, "output of Double, input of Float", backend._allgather_base, ones.double(), ones[:2])
    refused(RuntimeError, "more than one element", dist.all_reduce, torch.ones(1).expand(4))
    assert backend._get_sequence_number_for_group() == sequence, "a refused call was counted"
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    assert tensor[0] == size, "a refused call disturbed the group"


def test_what_is_not_supported_is_refused_before_anything_is_sent(three_sites):
    three_sites.run(refusals)
