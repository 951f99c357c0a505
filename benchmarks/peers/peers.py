"""Who is compared: what each needs, how its ranks are started in the lab, and what they print.

A peer that cannot run here says why; it is never left out in silence.
"""

import dataclasses
import pathlib
import shutil
import subprocess
import sys

RANKS = pathlib.Path(__file__).resolve().parent / "ranks"
SITE_NAMES = "abcdefghijklmnopqrstuvwxyz"


def _reason(done):
    """The error of a traceback, else the first thing that was said."""
    lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
    return next((line for line in reversed(lines) if line.split(":")[0].endswith("Error")), lines[0])


def _probe(*words):
    """None if the command succeeds, else why not."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else _reason(done)


def _call(setting):
    return [str(setting.size_bytes), str(setting.together), str(setting.iterations), str(setting.warmup)]


@dataclasses.dataclass
class Isthmus:
    isthmus: str
    transport: str

    @property
    def name(self):
        return f"isthmus-{self.transport}"

    def missing(self):
        try:
            done = subprocess.run([self.isthmus, "info"], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        found = [line.split() for line in done.stdout.splitlines() if line.startswith(f"  {self.transport} ")]
        if found and found[0][1][:1].isdigit():  # its version, not what is wrong with it
            return None
        return f"this build has no transport {self.transport}"

    def command(self, setting):
        return [
            self.isthmus, "bench", "allreduce", "--size", str(setting.size_bytes), "--together", str(setting.together),
            "--iters", str(setting.iterations), "--warmup", str(setting.warmup), "--json",
        ]  # fmt: skip

    def environment(self, setting, spool):
        congestion = setting.congestion if setting.congestion in ("bbr", "cubic") else "system"
        return {"ISTHMUS_TRANSPORT": self.transport, "ISTHMUS_WAN_CONGESTION": congestion}

    @staticmethod
    def read(result):
        return {
            "version": f"{result['transport']} {result['transport_version']}", "p50_us": result["time_us_p50"],
            "wrong": result["wrong"], "congestion": result["congestion"], "lanes": result["lanes"],
        }  # fmt: skip


class _Peer:
    """Ranks that print version, times_us, wrong and congestion."""

    def environment(self, setting, spool):
        return {}

    @staticmethod
    def read(result):
        times = sorted(result["times_us"])
        return {
            "version": result["version"], "p50_us": times[(len(times) - 1) // 2], "wrong": result["wrong"],
            "congestion": result["congestion"], "lanes": result.get("lanes"),
        }  # fmt: skip


class Gloo(_Peer):
    name = "gloo"

    def missing(self):
        return _probe(sys.executable, "-c", "import torch.distributed as d; assert d.is_gloo_available(), 'no Gloo'")

    def command(self, setting):
        return [sys.executable, str(RANKS / "gloo_rank.py"), *_call(setting)]

    def environment(self, setting, spool):
        return {"GLOO_SOCKET_IFNAME": "wan0", "OMP_NUM_THREADS": "1"}


@dataclasses.dataclass
class OpenMpi(_Peer):
    program: str  # openmpi_rank, built where CMake found MPI
    name = "openmpi"

    def missing(self):
        if shutil.which("mpirun") is None:
            return "mpirun is not installed (scripts/packages/debian-peers.txt)"
        if not pathlib.Path(self.program).exists():
            return f"{self.program} is not built: configure the build again with MPI installed"
        return None

    def command(self, setting):
        return [str(RANKS / "openmpi_site"), self.program, *_call(setting)]

    def environment(self, setting, spool):
        return {"PEERS_SPOOL": spool, "PEERS_SITES": ",".join(SITE_NAMES[: setting.sites])}


@dataclasses.dataclass
class Pccl(_Peer):
    python: str  # an interpreter that has pypccl
    connections: int

    @property
    def name(self):
        return f"pccl-{self.connections}"

    def missing(self):
        if shutil.which(self.python) is None:
            return f"{self.python} is not installed (the wheel of pypccl is for CPython 3.12; --pccl-python names one)"
        return _probe(self.python, "-c", "import pccl, numpy")

    def command(self, setting):
        return [self.python, str(RANKS / "pccl_rank.py"), str(self.connections), *_call(setting)]
