"""The measurements through PyTorch run to their end and print what they promise; the figures themselves are no test."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / "benchmarks/torch"
# Variables that steer Isthmus or torch in the caller's shell must not steer the ranks of a test.
KEPT = {name: value for name, value in os.environ.items() if not name.startswith(("ISTHMUS_", "TORCH", "MASTER_"))}


def run(program, *arguments):
    command = [sys.executable, str(PROGRAMS / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=KEPT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{program} {' '.join(arguments)}" in done.stdout, "the command is not in the output"
    return done.stdout


def test_allreduce():
    text = run("allreduce.py", "--ranks", "2", "--sites", "2", "--largest", "4096", "--budget", "1")
    rows = [line.split() for line in text.splitlines() if re.match(r" *\d+ ", line)]
    assert [row[0] for row in rows] == ["1024", "4096"], text
    for size, *figures in rows:
        c_us, c_rate, own_us, own_rate, gloo_us, gloo_rate, to_c, to_gloo = map(float, figures)
        for us, rate in ((c_us, c_rate), (own_us, own_rate), (gloo_us, gloo_rate)):
            assert us > 0 and rate == pytest.approx(int(size) / us / 1e3, rel=0.1, abs=1e-4)
        assert to_c == pytest.approx(own_us / c_us, abs=0.02) and to_gloo == pytest.approx(own_us / gloo_us, abs=0.02)


@pytest.mark.parametrize("backend", ["isthmus", "gloo"])
def test_ddp_overlap(backend):
    small = ["--width", "64", "--depth", "3", "--batch", "16", "--steps", "2", "--bucket-mb", "0.01"]
    text = run("ddp_overlap.py", "--backend", backend, *small)
    buckets = re.search(rf"{backend}: (\d+) buckets, 0.0 MB of gradients", text)
    assert buckets and int(buckets[1]) > 1, text
    assert re.search(r"hidden -?[\d.]+ s of [\d.]+ s that could be: -?\d+ %", text), text


def test_a_run_that_fails_says_so_by_its_status():
    command = [sys.executable, str(PROGRAMS / "ddp_overlap.py")]
    wrong = KEPT | {"ISTHMUS_CHUNK_BYTES": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=wrong)
    assert done.returncode != 0 and "ISTHMUS_CHUNK_BYTES" in done.stderr, done.stdout + done.stderr
