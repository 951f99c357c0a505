"""One rank of an allreduce over PCCL, timed as isthmus bench does it: back to back, the mean of the ranks.

pccl_rank.py CONNECTIONS SIZE_BYTES TOGETHER ITERATIONS WARMUP; rank 0 prints one JSON object. An operation of PCCL
uses one connection of its pool, so with several connections the buffer is cut into as many operations, which run at
once.
"""

import importlib.metadata
import json
import os
import sys
import time

import numpy
import pccl
import sockets

LIMIT_S = 60


def wait_for_all(communicator, ranks):
    """Until every rank has joined."""
    end = time.monotonic() + LIMIT_S
    while communicator.get_attribute(pccl.Attribute.GLOBAL_WORLD_SIZE) < ranks:
        if time.monotonic() > end:
            raise TimeoutError(f"not {ranks} ranks within {LIMIT_S} s")
        if communicator.are_peers_pending():
            communicator.update_topology()
        time.sleep(0.05)


def reduce_all(communicator, pieces, tag):
    """Issues an operation per piece and waits for all. A number that no operation had serves as the tag of each."""
    handles = [
        communicator.all_reduce_async(send, recv, op=pccl.ReduceOp.SUM, tag=tag + i)
        for i, (send, recv) in enumerate(pieces)
    ]
    for handle in handles:
        success, status, _ = handle.wait()
        if not success:
            raise RuntimeError(f"an allreduce failed with status {status}")
    return tag + len(pieces)


def add_up(communicator, values):
    """The sums over all ranks."""
    result = numpy.zeros_like(values)
    communicator.all_reduce(values, result, op=pccl.ReduceOp.SUM)
    return result


def main(connections, size_bytes, together, iterations, warmup):
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    if rank == 0:
        master = pccl.MasterNode(listen_address=address)
        master.run()
    communicator = pccl.Communicator(address, 0, connections)
    communicator.connect(n_attempts=30)
    wait_for_all(communicator, ranks)

    pattern = numpy.arange(size_bytes // 4) % 1000
    pieces, outputs = [], []
    for _ in range(together):
        send, recv = (pattern + rank).astype(numpy.float32), numpy.full(pattern.size, -1, numpy.float32)
        outputs.append(recv)
        pieces += zip(numpy.array_split(send, connections), numpy.array_split(recv, connections), strict=True)
    times_us, tag = [], 1
    for _ in range(warmup + iterations):
        start = time.perf_counter()
        tag = reduce_all(communicator, pieces, tag)
        times_us.append((time.perf_counter() - start) * 1e6)
    expected = (pattern * ranks + ranks * (ranks - 1) // 2).astype(numpy.float32)
    wrong = sum(int((output != expected).sum()) for output in outputs)
    mean = add_up(communicator, numpy.array(times_us[warmup:]) / ranks)
    total = add_up(communicator, numpy.array([float(wrong)]))
    if rank == 0:
        result = {"version": f"PCCL {importlib.metadata.version('pypccl')}", "times_us": mean.tolist(),
                  "wrong": int(total[0]), "congestion": sockets.congestion(), "lanes": connections}  # fmt: skip
        print(json.dumps(result), flush=True)
        time.sleep(1)  # the others still speak to the master
        master.interrupt()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:6]))
