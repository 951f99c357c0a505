"""Starts the ranks of a run through `isthmus lab` and shows what they print."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
START_UP_SECONDS = 120  # beyond the budget of its steps a run may take so long for everything else


class RunFailed(Exception):
    """A run ended with another status than 0."""


@dataclasses.dataclass(frozen=True)
class Wan:
    sites: int
    ranks_per_site: int
    rate: str
    rtt: str

    def describe(self) -> str:
        return f"{self.sites} sites x {self.ranks_per_site} ranks, {self.rate} per site each way, {self.rtt} round trip"


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


def execute(
    isthmus: str, run: Run, wan: Wan, out: pathlib.Path, train_arguments: list[str], budget_seconds: float
) -> dict:
    """What rank 0 measured, with `wall_seconds` of the whole run; raises RunFailed, after its output was shown."""
    command = command_line(isthmus, run, wan, out, train_arguments, budget_seconds)
    # One thread per rank: more would only fight for the cores. Errors of torch's C++ still show, notices do not.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR", "PYTHONUNBUFFERED": "1"}
    (out / f"{run.name}.json").unlink(missing_ok=True)
    print("$ " + " ".join(command), flush=True)
    start = time.monotonic()
    with open(out / f"{run.name}.log", "w") as log:
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace") as process:
            try:
                for line in process.stdout:
                    print("    " + line, end="", flush=True)
                    log.write(line)
            except BaseException:
                process.terminate()  # the lab ends its ranks and removes its namespaces
                raise
    wall = time.monotonic() - start
    if process.returncode != 0:
        raise RunFailed(f"{run.title}: the lab ended with status {process.returncode} after {wall:.0f} s; its output is "
                        f"above and in {log.name}")
    return json.loads((out / f"{run.name}.json").read_text()) | {"wall_seconds": wall}
