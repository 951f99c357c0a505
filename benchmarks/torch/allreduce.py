"""allreduce (fp32, SUM) through torch.distributed on Isthmus, beside the C API and beside Gloo, in one run.

    python benchmarks/torch/allreduce.py --ranks 2                      two processes of one site
    python benchmarks/torch/allreduce.py --ranks 4 --sites 2
    isthmus lab --sites 2 --rate 100mbit --rtt 60ms -- python benchmarks/torch/allreduce.py

The three take turns, a few calls each, so that all see the same machine; a time is that of one synchronous call, the
median over all calls of rank 0. GB/s are bytes of the buffer per second.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import time

import isthmus  # noqa: F401  makes the backend known, also where it is not installed but in PYTHONPATH
import ranks
import torch
import torch.distributed as dist
from c_api import CApi

KIB, MIB = 1024, 1024 * 1024
SIZES = [KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB]
ROUNDS = 5


def calls_per_round(size: int) -> int:
    return max(2, min(200, 8 * MIB // size))


def timed(call, tensor: torch.Tensor, count: int) -> list[float]:
    seconds = []
    for _ in range(count):
        start = time.perf_counter()
        call(tensor)
        seconds.append(time.perf_counter() - start)
    return seconds


def check(name: str, call, size: int) -> None:
    tensor = torch.full((size // 4,), float(dist.get_rank() + 1))
    call(tensor)
    expected = sum(range(1, dist.get_world_size() + 1))
    if not bool((tensor == expected).all()):
        raise RuntimeError(f"{name}: an allreduce of {size} bytes gave a wrong sum")


def measure(ways: dict, size: int, budget_s: float) -> dict[str, float]:
    """Median seconds per call of each way. All ranks must do the same calls: rank 0 says when to end."""
    tensor, found = torch.zeros(size // 4), {name: [] for name in ways}
    for name, call in ways.items():
        check(name, call, size)
        timed(call, tensor, 2)
    start = time.perf_counter()
    for turn in range(ROUNDS):
        names = list(ways)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name] += timed(ways[name], tensor, calls_per_round(size))
        over = torch.tensor([time.perf_counter() - start > budget_s])
        dist.broadcast(over, 0)
        if over.item():
            break
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def heading(ways: dict) -> str:
    return f"{'bytes':>9} " + " ".join(f"{name + ': us, GB/s':>28}" for name in ways) + "  torch/C  torch/Gloo"


def report(size: int, found: dict[str, float]) -> str:
    own, c_api, gloo = found["torch, Isthmus"], found["C API"], found["torch, Gloo"]
    columns = [f"{seconds * 1e6:19.1f} {size / seconds / 1e9:8.4f}" for seconds in found.values()]
    return f"{size:>9} {' '.join(columns)} {own / c_api:8.3f} {own / gloo:11.3f}"


def run(largest: int, budget_s: float) -> None:
    torch.set_num_threads(1)
    ranks.use_the_labs_interface()
    dist.init_process_group("isthmus")
    rank, size = dist.get_rank(), dist.get_world_size()
    gloo = dist.new_group(backend="gloo")
    folder = ranks.shared_folder()
    c_api = CApi(os.path.join(folder, "store"), rank, size)
    ways = {
        "C API": c_api.allreduce,
        "torch, Isthmus": dist.all_reduce,
        "torch, Gloo": lambda tensor: dist.all_reduce(tensor, group=gloo),
    }
    if rank == 0:
        ranks.print_command()
        print(f"allreduce of fp32, {size} ranks: median of one call")
        print(heading(ways), flush=True)
    for size_bytes in [each for each in SIZES if each <= largest]:
        found = measure(ways, size_bytes, budget_s)
        if rank == 0:
            print(report(size_bytes, found), flush=True)
    dist.barrier()
    c_api.close()
    if rank == 0:
        shutil.rmtree(folder)
    dist.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="processes to start, where no launcher did")
    parser.add_argument("--sites", type=int, default=1)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="bytes; larger sizes are left out")
    parser.add_argument("--budget", type=float, default=20, help="seconds per size")
    arguments = parser.parse_args()
    if "RANK" not in os.environ:
        return ranks.start(arguments.ranks, arguments.sites)
    run(arguments.largest, arguments.budget)
    return 0


if __name__ == "__main__":
    sys.exit(main())
