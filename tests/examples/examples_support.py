"""What the tests of the examples share: where they are, and worlds of processes that run one."""

from __future__ import annotations

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
TRAIN_DDP = EXAMPLES / "01_train_ddp" / "train_ddp.py"
HASH_LINE = re.compile(r"rank (\d+): parameters ([0-9a-f]{64})")
# Variables that steer Isthmus or torch in the caller's shell must not steer the ranks of a test.
KEPT = {name: value for name, value in os.environ.items() if not name.startswith(("ISTHMUS_", "TORCH", "MASTER_"))}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rank_environment(rank: int, world: int, ranks_per_site: int, port: int) -> dict[str, str]:
    return KEPT | {
        "RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank % ranks_per_site),
        "LOCAL_WORLD_SIZE": str(ranks_per_site), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
        "ISTHMUS_SITE": "abcdefgh"[rank // ranks_per_site], "OMP_NUM_THREADS": "1",
        "ISTHMUS_SECURITY": "off",
    }  # fmt: skip


def run_ranks(script: pathlib.Path, arguments: list[str], sites: int, ranks_per_site: int, timeout_s: float = 120):
    """One process per rank on this machine; returns (status, what it printed) of each. All are ended in any case."""
    world, port = sites * ranks_per_site, free_port()
    with tempfile.TemporaryDirectory() as folder:
        outputs = [open(pathlib.Path(folder) / str(rank), "w+") for rank in range(world)]
        processes = [
            subprocess.Popen([sys.executable, str(script), *arguments], stdout=outputs[rank], stderr=subprocess.STDOUT,
                             env=rank_environment(rank, world, ranks_per_site, port))
            for rank in range(world)
        ]  # fmt: skip
        try:
            statuses = [process.wait(timeout_s) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
        texts = []
        for output in outputs:
            output.seek(0)
            texts.append(output.read())
            output.close()
        return list(zip(statuses, texts, strict=True))


def hashes(text: str) -> dict[int, str]:
    return {int(rank): value for rank, value in HASH_LINE.findall(text)}


def expect_equal_parameters(text: str, world: int) -> None:
    """What 01_train_ddp promises at its end."""
    found = hashes(text)
    assert sorted(found) == list(range(world)), text
    assert len(set(found.values())) == 1, text
    assert f"parameters are equal on all {world} ranks" in text
    difference = re.search(r"largest difference from one process on the same batches: (\S+) of", text)
    assert difference and float(difference[1]) < 1e-9, text
