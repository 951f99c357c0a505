"""torch's own distributed_test.py, run for one backend: suite.py --backend isthmus --gates gloo [TEST ...]

Settings of one run come from the environment, as torch's tests want them: WORLD_SIZE, TORCH_DISTRIBUTED_DEBUG. One line
per test goes to --results: name, outcome (pass, skip, fail), reason.

A test of that file is gated by the name of the backend, most by "gloo" or "nccl". The gates are evaluated when the file
is imported: it is imported as if for the backend --gates, then its variable BACKEND, which the tests use, is set to the
one to be tested. So both run the same tests.

The ranks of a test are forked from this process, which has imported torch already and started no thread.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
import unittest

SITES = {2: ["north", "south"], 3: ["north", "south", "east"], 4: ["north", "south", "north", "south"]}
SECRET = "isthmus_1_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f_9a79682a"


def import_tests(backend, gates):
    """torch's module, opened for `gates` and set to `backend`."""
    os.environ["BACKEND"] = gates
    import isthmus  # noqa: F401  registers the backend
    import torch.testing._internal.distributed.distributed_test as tests

    os.environ["BACKEND"] = tests.BACKEND = backend
    for supported in (tests.PROFILING_SUPPORTED_BACKENDS, tests.SEND_RECV_PROFILING_SUPPORTED_BACKENDS):
        supported.append(backend)
    return tests


def make_case(tests):
    import torch

    class TorchSuite(tests.TestDistBackend, tests.DistributedTest._DistTestBase):
        def setUp(self):
            super().setUp()
            self._start_processes(torch.multiprocessing.get_context("fork").Process)

        @classmethod
        def _run(cls, rank, *arguments, **others):
            os.environ["ISTHMUS_SITE"] = SITES[int(os.environ["WORLD_SIZE"])][rank]
            torch.set_num_threads(1)
            super()._run(rank, *arguments, **others)

    return TorchSuite


def one_line(text):
    return " ".join(text.split())


class Record(unittest.TestResult):
    """Writes each outcome as soon as it is known."""

    def __init__(self, file):
        super().__init__()
        self.file = file

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def _write(self, test, outcome, reason=""):
        seconds = time.monotonic() - self.started
        print(test._testMethodName, outcome, f"{seconds:.1f}", one_line(reason), sep="\t", file=self.file, flush=True)

    def addSuccess(self, test):
        self._write(test, "pass")

    def addSkip(self, test, reason):
        self._write(test, "skip", reason)

    def addFailure(self, test, error):
        self._write(test, "fail", str(error[1]))

    addError = addFailure


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", required=True)
    parser.add_argument("--gates", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ["ISTHMUS_SECRET"] = SECRET
    with contextlib.ExitStack() as stack:
        os.environ["TEMP_DIR"] = stack.enter_context(tempfile.TemporaryDirectory(prefix="isthmus-conformance-"))
        case = make_case(import_tests(arguments.backend, arguments.gates))
        names = arguments.tests or unittest.TestLoader().getTestCaseNames(case)
        results = stack.enter_context(open(arguments.results, "w"))
        unittest.TestSuite(case(name) for name in names).run(Record(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
