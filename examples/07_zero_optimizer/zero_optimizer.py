"""ZeroRedundancyOptimizer: DDP whose optimizer states are sharded over the ranks, which then broadcast what they own.

    isthmus lab --sites 2 --ranks-per-site 2 --rate 100mbit --rtt 60ms -- \\
        python examples/07_zero_optimizer/zero_optimizer.py
"""

from __future__ import annotations

import pathlib
import sys

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402


def state_is_whole(optimizer: ZeroRedundancyOptimizer, tensors: int) -> bool:
    """Rank 0 gathers the states of all parameters, as a checkpoint needs them."""
    optimizer.consolidate_state_dict(to=0)
    return dist.get_rank() != 0 or len(optimizer.state_dict()["state"]) == tensors


def example() -> bool:
    model = DistributedDataParallel(support.build_model())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
    support.train(model, optimizer, dist.get_rank())
    expected = support.train_alone(dist.get_world_size())
    good = support.compare("sharded optimizer", model.parameters(), expected.parameters())
    return state_is_whole(optimizer, len(list(model.parameters()))) and good


if __name__ == "__main__":
    support.main(example)
