"""What the tests of whole jobs share: jobs on this host, and jobs in the lab."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "benchmarks" / "lab"))

PROGRAM = os.environ["RANK_PROGRAM"]
SECRET = "isthmus_1_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f_9a79682a"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_ranks(words, sites, environment=None, own=None):
    """One process per entry of `sites` (its site's name) on this host; returns them by rank. `own`: a dictionary for
    each rank, over `environment`."""
    port = str(free_port())
    processes = []
    for rank, site in enumerate(sites):
        added = {"ISTHMUS_SECRET": SECRET} | (environment or {}) | (own[rank] if own else {})
        variables = dict(
            os.environ,
            RANK=str(rank),
            WORLD_SIZE=str(len(sites)),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=port,
            ISTHMUS_SITE=site,
            **added,
        )
        processes.append(
            subprocess.Popen(
                [PROGRAM, *words], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        )
    return processes


def stop(processes):
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


def wait_for_line(process, text, limit_s=30):
    end = time.monotonic() + limit_s
    lines = []
    while time.monotonic() < end:
        line = process.stdout.readline()
        if not line:
            break
        lines.append(line)
        if text in line:
            return
    raise AssertionError(f"no line with {text!r} from the rank, but:\n{''.join(lines)}")


def listening_addresses(pid):
    """Of the TCP sockets that the process listens on: hosts as text."""
    return [host for host, _ in listening_sockets(pid)]


def listening_sockets(pid):
    """The TCP sockets that the process listens on: pairs of host and port."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(entry))
        except FileNotFoundError:
            continue
        if match:
            inodes.add(match.group(1))
    sockets = []
    for table, family, size in (("tcp", socket.AF_INET, 4), ("tcp6", socket.AF_INET6, 16)):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] != "0A" or fields[9] not in inodes:
                continue
            digits, port = fields[1].split(":")
            words = [bytes.fromhex(digits[i : i + 8])[::-1] for i in range(0, len(digits), 8)]
            sockets.append((socket.inet_ntop(family, b"".join(words)[:size]), int(port, 16)))
    return sockets
