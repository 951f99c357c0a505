"""One rank of an allreduce over Gloo, timed as isthmus bench does it: back to back, the mean of the ranks.

gloo_rank.py SIZE_BYTES TOGETHER ITERATIONS WARMUP; rank 0 prints one JSON object.
"""

import json
import sys
import time

import sockets
import torch
import torch.distributed as dist


def main(size_bytes, together, iterations, warmup):
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    pattern = torch.arange(size_bytes // 4) % 1000
    buffers = [(pattern + rank).to(torch.float32) for _ in range(together)]
    dist.barrier()
    times_us = []
    for _ in range(warmup + iterations):
        start = time.perf_counter()
        works = [dist.all_reduce(buffer, async_op=True) for buffer in buffers]
        for work in works:
            work.wait()
        times_us.append((time.perf_counter() - start) * 1e6)
    # Gloo reduces in place, so every iteration after the first multiplies by the number of ranks: exact for 2, 4, 8.
    expected = (pattern * ranks + ranks * (ranks - 1) // 2).to(torch.float32) * float(ranks) ** (len(times_us) - 1)
    wrong = sum(int((buffer != expected).sum()) for buffer in buffers)
    mean = torch.tensor(times_us[warmup:], dtype=torch.float64) / ranks
    dist.all_reduce(mean)
    total = torch.tensor([wrong])
    dist.all_reduce(total)
    if rank == 0:
        result = {"version": f"torch {torch.__version__}", "times_us": mean.tolist(), "wrong": int(total),
                  "congestion": sockets.congestion()}  # fmt: skip
        print(json.dumps(result), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:5]))
