"""The ranks of a measurement: those of torchrun or the lab, or processes of this machine that a script starts."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time

SITES = "abcdefgh"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(ranks: int, sites: int) -> int:
    """Runs this program once per rank and returns the worst status; when one fails, the others are ended."""
    common = os.environ | {
        "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "OMP_NUM_THREADS": "1",
        "ISTHMUS_SECURITY": "off",
    }  # fmt: skip
    processes = [
        subprocess.Popen(
            [sys.executable, *sys.argv],
            env=common | {"RANK": str(rank), "ISTHMUS_SITE": SITES[rank * sites // ranks]},
        )
        for rank in range(ranks)
    ]
    try:
        while any(process.poll() is None for process in processes):
            if any(process.returncode for process in processes):
                break
            time.sleep(0.05)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return max(abs(process.returncode) for process in processes)


def use_the_labs_interface() -> None:
    """Gloo takes the address of the host's name, which is not in a namespace of the lab."""
    if any(name == "wan0" for _, name in socket.if_nameindex()):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "wan0")


def print_command() -> None:
    """The command, where and under what load it ran: figures without them mean little."""
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    print(f"python {shlex.join(sys.argv)}   {when}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")


def shared_folder() -> str:
    """A new folder that all ranks know; they are on one machine, also in the lab."""
    import torch.distributed as dist

    names = [tempfile.mkdtemp(prefix="isthmus-bench-")] if dist.get_rank() == 0 else [None]
    dist.broadcast_object_list(names, 0)
    return names[0]
