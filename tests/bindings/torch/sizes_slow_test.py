"""SH-10: tensors above 2^31 bytes and elements. Needs about 12 GiB of memory."""

import isthmus
import pytest
import torch
import torch.distributed as dist

COUNTS = {torch.uint8: 2**31 + 3, torch.float32: 2**29 + 1}


def marked(dtype, rank):
    """Zeros but for the first, a middle and the last element."""
    tensor = torch.zeros(COUNTS[dtype], dtype=dtype)
    places = [0, tensor.numel() // 2, tensor.numel() - 1]
    tensor[places] = torch.tensor([1, 2, 3], dtype=dtype) * (rank + 1)
    return tensor, places


def sh10(rank, size, dtype):
    sent_before = isthmus.counters()["wan_sent_bytes"]
    tensor, places = marked(dtype, rank)
    dist.all_reduce(tensor)
    assert tensor[places].tolist() == [3, 6, 9] and tensor.count_nonzero().item() == 3
    tensor[places] = rank + 5
    dist.broadcast(tensor, 1)
    assert tensor[places].tolist() == [6, 6, 6]
    tensor[places] = 7 * (1 - rank)
    if rank == 0:
        dist.send(tensor, 1)
    else:
        dist.recv(tensor, 0)
    assert tensor[places].tolist() == [7, 7, 7] and tensor.count_nonzero().item() == 3
    assert isthmus.counters()["wan_sent_bytes"] - sent_before > 2**31


@pytest.mark.parametrize("dtype", COUNTS)
def test_sh10_more_than_two_gibibytes(pair, dtype):
    pair.run(sh10, limit_s=800, dtype=dtype)
