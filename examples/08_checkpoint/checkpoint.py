"""Saves a sharded model with torch.distributed.checkpoint, and loads it on any number of ranks.

    isthmus lab --sites 2 --ranks-per-site 2 -- python examples/08_checkpoint/checkpoint.py save /tmp/checkpoint
    isthmus lab --sites 2 --ranks-per-site 1 -- python examples/08_checkpoint/checkpoint.py load /tmp/checkpoint

`save` trains with FSDP2 first, on as many batches as there are ranks. `load` goes on training, which needs the
optimizer's state, too; one process does the same on --batches, as many as ranks saved, then on as many as ranks loaded.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402


def new_training() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = fully_shard(support.build_model(), mesh=dist.init_device_mesh("cpu", (dist.get_world_size(),)))
    return model, support.new_optimizer(model.parameters())


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict:
    model_state, optimizer_state = get_state_dict(model, optimizer)
    return {"model": model_state, "optimizer": optimizer_state}


def compare(what: str, model: nn.Module, alone: nn.Module) -> bool:
    return support.compare(what, [parameter.full_tensor() for parameter in model.parameters()], alone.parameters())


def save(folder: str) -> bool:
    model, optimizer = new_training()
    support.train(model, optimizer, dist.get_rank())
    checkpoint.save(state_of(model, optimizer), checkpoint_id=folder)
    return compare("saved model", model, support.train_alone(dist.get_world_size()))


def load(folder: str, batches: int) -> bool:
    model, optimizer = new_training()
    state = state_of(model, optimizer)
    checkpoint.load(state, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])

    alone = support.build_model()
    optimizer_alone = support.new_optimizer(alone.parameters())
    support.train_on_all(alone, optimizer_alone, batches)
    loaded = compare("loaded model", model, alone)
    support.train(model, optimizer, dist.get_rank())
    support.train_on_all(alone, optimizer_alone, dist.get_world_size())
    return compare("trained on", model, alone) and loaded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["save", "load"])
    parser.add_argument("folder")
    parser.add_argument("--batches", type=int, default=4, help="as many as ranks saved")
    arguments = parser.parse_args()
    if arguments.action == "save":
        support.main(lambda: save(arguments.folder))
    else:
        support.main(lambda: load(arguments.folder, arguments.batches))


if __name__ == "__main__":
    main()
