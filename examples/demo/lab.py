"""Starts the ranks of a run through `isthmus lab` and shows what they print."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
START_UP_SECONDS = 300  # beyond the budget of its steps: a busy machine imports torch slowly, a hang must still end


class RunFailed(Exception):
    """A run ended with another status than 0."""


@dataclasses.dataclass(frozen=True)
class Wan:
    sites: int
    ranks_per_site: int
    rate: str
    rtt: str

    def describe(self) -> str:
        """With "50mbit" and "60ms" written for people."""
        rate = re.sub(r"^([\d.]+)([kmg])bit$", lambda found: f"{found[1]} {found[2].upper()}bit/s", self.rate)
        rtt = re.sub(r"^([\d.]+)([a-z]+)$", r"\1 \2", self.rtt)
        return f"{self.sites} sites x {self.ranks_per_site} ranks, {rate} per site each way, {rtt} round trip"


@dataclasses.dataclass(frozen=True)
class Run:
    name: str  # of its files
    title: str
    backend: str
    flat: bool = False  # the same ranks as one site


def find_isthmus() -> str:
    """The command beside this Python, else the one in PATH."""
    beside = pathlib.Path(sys.executable).parent / "isthmus"
    found = str(beside) if beside.exists() else shutil.which("isthmus")
    if found is None:
        raise RunFailed(f"there is no isthmus command, neither {beside} nor in PATH: run scripts/build")
    return found


def command_line(
    isthmus: str, run: Run, wan: Wan, out: pathlib.Path, train_arguments: list[str], budget_seconds: float
) -> list[str]:
    return [
        isthmus,
        *("lab", "--sites", str(wan.sites), "--ranks-per-site", str(wan.ranks_per_site)),
        *("--rate", wan.rate, "--rtt", wan.rtt, *(["--flat"] if run.flat else [])),
        *("--stats-json", str(out / f"{run.name}-wire.json"), "--timeout", f"{budget_seconds + START_UP_SECONDS:.0f}s"),
        *("--", sys.executable, str(HERE / "train.py"), "--backend", run.backend),
        *("--budget-seconds", str(budget_seconds), "--result", str(out / f"{run.name}.json"), *train_arguments),
    ]


def stream(command: list[str], log_path: pathlib.Path) -> int:
    """Shows and keeps what the command prints; its status."""
    # One thread per rank: more would only fight for the cores. Errors of torch's C++ still show, notices do not.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR", "PYTHONUNBUFFERED": "1"}
    print("$ " + " ".join(command), flush=True)
    with (
        open(log_path, "w") as log,
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process,
    ):
        try:
            for line in process.stdout:
                print("    " + line, end="", flush=True)
                log.write(line)
        except BaseException:
            process.terminate()  # the lab ends its ranks and removes its namespaces
            raise
    return process.returncode


def execute(
    isthmus: str, run: Run, wan: Wan, out: pathlib.Path, train_arguments: list[str], budget_seconds: float
) -> dict:
    """What rank 0 measured, with `wall_seconds` of the whole run and the lab's own counts as `lab`."""
    result, log = out / f"{run.name}.json", out / f"{run.name}.log"
    result.unlink(missing_ok=True)
    start = time.monotonic()
    try:
        status = stream(command_line(isthmus, run, wan, out, train_arguments, budget_seconds), log)
    except OSError as error:
        raise RunFailed(f"{run.title}: cannot run {isthmus}: {error}") from error
    wall = time.monotonic() - start
    if status != 0:
        raise RunFailed(
            f"{run.title}: the lab ended with status {status} after {wall:.0f} s; its output is above and in {log}"
        )
    lab = json.loads((out / f"{run.name}-wire.json").read_text())
    lab["congestion_control"] = re.search(r"congestion control (\w+)", log.read_text())[1]
    return json.loads(result.read_text()) | {"wall_seconds": wall, "lab": lab}
