"""A pipeline of two stages, one per site: activations cross the WAN one way, their gradients the other.

isthmus lab --sites 2 --ranks-per-site 1 --rate 100mbit --rtt 60ms -- python examples/06_pipeline/pipeline.py
"""

from __future__ import annotations

import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402

MICROBATCHES = 4


def own_stage() -> nn.Module:
    """Layers 0 to 1 in the first stage, the rest in the second."""
    layers = support.build_model()
    return layers[:2] if dist.get_rank() == 0 else layers[2:]


def example() -> bool:
    if dist.get_world_size() != 2:
        raise ValueError(f"the pipeline has two stages, the job has {dist.get_world_size()} ranks")
    first = dist.get_rank() == 0
    model = own_stage()
    schedule = Schedule1F1B(
        PipelineStage(model, dist.get_rank(), 2, torch.device("cpu")), MICROBATCHES, loss_fn=support.loss_of
    )
    optimizer = support.new_optimizer(model.parameters())
    for step in range(support.STEPS):
        optimizer.zero_grad()
        inputs, targets = support.batch(step, 0)
        schedule.step(inputs) if first else schedule.step(target=targets, losses=[])
        optimizer.step()
    alone = support.train_alone(1)
    expected = alone[:2] if first else alone[2:]
    return support.compare(f"stage {dist.get_rank()}", model.parameters(), expected.parameters())


if __name__ == "__main__":
    support.main(example)
