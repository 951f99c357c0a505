"""Runs a command in the lab, or says why it cannot be run here."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from examples_support import KEPT

PROGRAM = os.environ.get("LAB_COMMAND") or shutil.which("isthmus")


def require_lab() -> None:
    assert PROGRAM, "LAB_COMMAND must name the isthmus command"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        pytest.skip(f"cannot open /dev/net/tun: {error}")
    attempt = ["unshare", "--net", "true"] if os.geteuid() == 0 else ["unshare", "--user", "--net", "true"]
    if subprocess.run(attempt, capture_output=True).returncode != 0:
        pytest.skip("this user may not make network namespaces")


def run_in_lab(options: list[str], command: list[str], timeout_s: int = 180) -> subprocess.CompletedProcess:
    """To its end; the lab itself gives up before we do, and cleans up."""
    require_lab()
    words = [PROGRAM, "lab", "--timeout", f"{timeout_s - 30}s", *options, "--", *command]
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout_s, env=KEPT | {"OMP_NUM_THREADS": "1"})
