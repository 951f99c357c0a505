"""How much of the communication DDP hides behind the backward pass.

Three times per step, each a median of rank 0: the backward pass alone, the allreduces of the same buckets alone, all
issued at once, and both under DDP. What could be hidden is the smaller of the first two; what was hidden is the sum of
both less the third. (It is a strict measure: the last bucket is full only when the backward pass ends, so its own
allreduce cannot be hidden.)

    isthmus lab --sites 2 --rate 100mbit --rtt 60ms -- python benchmarks/torch/ddp_overlap.py
    python benchmarks/torch/ddp_overlap.py --ranks 2 --sites 2 --backend gloo
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

import isthmus  # noqa: F401  makes the backend known, also where it is not installed but in PYTHONPATH
import ranks
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build_model(width: int, depth: int) -> nn.Module:
    layers = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*layers)


def bucket_sizes(model: DistributedDataParallel) -> list[int]:
    """Elements of each bucket, as a hook sees them in one backward pass."""
    sizes: list[int] = []

    def hook(_state, bucket):  # sends nothing
        sizes.append(bucket.buffer().numel())
        future = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    model.register_comm_hook(None, hook)
    for _ in range(2):  # DDP orders its buckets anew after the first pass
        sizes.clear()
        model(torch.ones(1, model.module[0].in_features)).sum().backward()
    return sizes


def median_seconds(prepare, steps: int) -> float:
    """Of what `prepare` returns, begun together on all ranks; the first, in which connections are made, is left out."""
    seconds = []
    for _ in range(steps + 1):
        action = prepare()
        dist.barrier()
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def measure(arguments: argparse.Namespace) -> tuple[float, float, float, list[int]]:
    def build() -> DistributedDataParallel:
        model = build_model(arguments.width, arguments.depth)
        return DistributedDataParallel(model, bucket_cap_mb=arguments.bucket_mb)

    torch.manual_seed(0)
    inputs = torch.randn(arguments.batch, arguments.width)
    sizes, model = bucket_sizes(build()), build()
    buffers = [torch.zeros(size) for size in sizes]

    def backward():
        return model(inputs).square().mean().backward

    def reduce_all() -> None:
        for work in [dist.all_reduce(buffer, async_op=True) for buffer in buffers]:
            work.wait()

    with model.no_sync():
        alone = median_seconds(backward, arguments.steps)
    communication = median_seconds(lambda: reduce_all, arguments.steps)
    return alone, communication, median_seconds(backward, arguments.steps), sizes


def run(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    ranks.use_the_labs_interface()
    dist.init_process_group(arguments.backend)
    alone, communication, both, sizes = measure(arguments)
    if dist.get_rank() == 0:
        hidden, possible = alone + communication - both, min(alone, communication)
        ranks.print_command()
        print(f"{arguments.backend}: {len(sizes)} buckets, {sum(sizes) * 4 / 1e6:.1f} MB of gradients")
        print(f"backward alone {alone:.3f} s, allreduces alone {communication:.3f} s, DDP {both:.3f} s")
        print(f"hidden {hidden:.3f} s of {possible:.3f} s that could be: {100 * hidden / possible:.0f} %", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="processes to start, where no launcher did")
    parser.add_argument("--sites", type=int, default=2)
    parser.add_argument("--backend", default="isthmus", choices=["isthmus", "gloo"])
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--bucket-mb", type=float, default=1, help="DDP's bucket_cap_mb")
    parser.add_argument("--steps", type=int, default=6)
    arguments = parser.parse_args()
    if "RANK" not in os.environ:
        return ranks.start(arguments.ranks, arguments.sites)
    run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
