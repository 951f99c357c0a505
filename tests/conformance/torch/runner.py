"""Starts suite.py once per setting, and reads what it found. See `run`."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import outcomes

FOLDER = pathlib.Path(__file__).resolve().parent
SETTINGS = [f"{size}:{level}" for level in ("plain", "detail") for size in (2, 3, 4)]
# A test opened by another backend's name than "gloo": all_to_all of CPU tensors, which torch keeps for MPI.
MPI_GATED = ("test_all_to_all",)
TEST_LIMIT_S = 100


def series() -> str:
    return ".".join(importlib.metadata.version("torch").split(".")[:2])


def list_path(backend: str) -> pathlib.Path:
    return FOLDER / f"{backend}-torch{series()}.txt"


def part() -> dict[str, list[str]]:
    """setting -> tests that CI runs, from part.txt."""
    chosen: dict[str, list[str]] = {}
    for line in (FOLDER / "part.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            test, *settings = line.split()
            for setting in settings:
                chosen.setdefault(setting, []).append(test)
    return chosen


def environment(setting: str) -> dict[str, str]:
    size, level = setting.split(":")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ISTHMUS_", "TORCH_DIST"))}
    kept |= {"WORLD_SIZE": size, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    kept |= {"DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": str(TEST_LIMIT_S), "TORCH_CPP_LOG_LEVEL": "ERROR"}
    return kept | ({"TORCH_DISTRIBUTED_DEBUG": "DETAIL"} if level == "detail" else {})


def run_suite(backend: str, gates: str, setting: str, tests: list[str], log) -> dict[str, tuple[str, str]]:
    """No tests: all of them. A suite that ends early leaves the tests after that out, which is reported as lost."""
    with tempfile.NamedTemporaryFile("r", suffix=".tsv") as results:
        command = [sys.executable, str(FOLDER / "suite.py"), "--backend", backend, "--gates", gates]
        command += ["--results", results.name, *tests]
        done = subprocess.run(command, env=environment(setting), stdout=log, stderr=subprocess.STDOUT)
        found = outcomes.parse_results(results.read())
    if done.returncode != 0:
        raise SystemExit(
            f"{setting}: suite.py ended with status {done.returncode} after {len(found)} tests: {log.name}"
        )
    return found


def run_setting(backend: str, setting: str, tests: list[str], log) -> dict[str, tuple[str, str]]:
    found = run_suite(backend, "gloo", setting, tests, log)
    gated = [test for test in found if test.startswith(MPI_GATED) and "Only MPI" in found[test][1]]
    if gated and backend != "gloo":  # Gloo has all_to_all for one tensor only, and aborts in some of these
        found |= run_suite(backend, "mpi", setting, gated, log)
    return found


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="torch's distributed_test.py for this backend")
    parser.add_argument("--backend", default="isthmus", choices=["isthmus", "gloo"])
    parser.add_argument("--all", action="store_true", help="every test in every setting")
    parser.add_argument("--tests", nargs="+", default=[], help="these tests only")
    parser.add_argument("--settings", nargs="+", default=SETTINGS, metavar="RANKS:LEVEL", choices=SETTINGS)
    parser.add_argument("--record", action="store_true", help="write the list")
    parser.add_argument("--log", default="conformance.log", help="what the tests print")
    return parser.parse_args()


def chosen_tests(arguments: argparse.Namespace) -> dict[str, list[str]]:
    if arguments.all or arguments.tests:
        return {setting: arguments.tests for setting in arguments.settings}
    return {setting: tests for setting, tests in part().items() if setting in arguments.settings}


def run_all(arguments: argparse.Namespace) -> outcomes.Outcomes:
    found: outcomes.Outcomes = {}
    with open(arguments.log, "w") as log:
        for setting, tests in chosen_tests(arguments).items():
            start = time.monotonic()
            for test, outcome in run_setting(arguments.backend, setting, tests, log).items():
                found.setdefault(test, {})[setting] = outcome
            seconds = time.monotonic() - start
            print(f"{arguments.backend} {setting}: {outcomes.counts(found, setting)} in {seconds:.0f} s", flush=True)
    return found


def main() -> int:
    arguments = parse_arguments()
    path = list_path(arguments.backend)
    expected = outcomes.read_list(path) if path.exists() else {}
    found = run_all(arguments)
    lost = outcomes.lost_passes(expected, found)
    if arguments.record:
        for test, by_setting in found.items():
            expected[test] = expected.get(test, {}) | by_setting
        settings = [setting for setting in SETTINGS if any(setting in row for row in expected.values())]
        title = f"torch {series()}, distributed_test.py on {arguments.backend}: written by `run --record`"
        path.write_text(outcomes.format_list(expected, settings, title))
    for line in lost:
        print(f"LOST {line}")
    return 1 if lost and not arguments.record else 0
