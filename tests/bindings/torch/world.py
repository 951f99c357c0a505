"""Worlds of processes for tests: forked from the test process once torch is imported, they start in milliseconds.

A world lives for many checks. A check is a function of a test file, `check(rank, size, ...)`; World.run calls it on
every rank at once and returns what the ranks returned. A world in which a check failed is replaced before the next one.
"""

import contextlib
import datetime
import faulthandler
import multiprocessing
import os
import sys
import tempfile
import traceback

import isthmus  # noqa: F401
import torch
import torch.distributed as dist
from isthmus import _extension

_extension.load()
_fork = multiprocessing.get_context("fork")


SECRET = "isthmus_1_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f_9a79682a"


class CheckFailed(AssertionError):
    pass


def _join(rank, sites, store_path, environment):
    os.environ["ISTHMUS_SECRET"] = SECRET
    os.environ.update(environment)
    os.environ["ISTHMUS_SITE"] = sites[rank]
    torch.set_num_threads(1)
    dist.init_process_group(
        "isthmus",
        init_method=f"file://{store_path}",
        rank=rank,
        world_size=len(sites),
        timeout=datetime.timedelta(seconds=30),
    )


def _serve(rank, sites, store_path, environment, pipe):
    faulthandler.enable()
    try:
        _join(rank, sites, store_path, environment)
        pipe.send((True, None))
    except BaseException:
        pipe.send((False, traceback.format_exc()))
        return
    while True:
        job = pipe.recv()
        if job is None:
            break
        check, arguments, limit_s = job
        faulthandler.dump_traceback_later(limit_s)
        try:
            answer = (True, check(rank, len(sites), **arguments))
        except BaseException:
            answer = (False, traceback.format_exc())
        faulthandler.cancel_dump_traceback_later()
        pipe.send(answer)
    if dist.is_initialized():
        dist.destroy_process_group()


class World:
    """`sites`: name of the site of each rank."""

    def __init__(self, sites, **environment):
        self.sites = list(sites)
        self.environment = environment
        self._folder = None
        self._processes = []
        self._pipes = []

    def start(self):
        self._folder = tempfile.TemporaryDirectory(prefix="isthmus-world-")
        store_path = os.path.join(self._folder.name, "store")
        sys.stdout.flush()
        for rank in range(len(self.sites)):
            here, there = _fork.Pipe()
            process = _fork.Process(
                target=_serve, args=(rank, self.sites, store_path, self.environment, there), daemon=True
            )
            process.start()
            there.close()
            self._pipes.append(here)
            self._processes.append(process)
        self._collect(60)

    def run(self, check, limit_s=60, **arguments):
        if not self._processes:
            self.start()
        for pipe in self._pipes:
            pipe.send((check, arguments, limit_s))
        return self._collect(limit_s)

    def _collect(self, limit_s):
        results, failures = [], []
        for rank, pipe in enumerate(self._pipes):
            good, value = self._receive(rank, pipe, limit_s)
            results.append(value)
            if not good:
                failures.append(f"rank {rank}: {value}")
        if failures:
            self.kill()
            raise CheckFailed("\n".join(failures))
        return results

    def _receive(self, rank, pipe, limit_s):
        try:
            if pipe.poll(limit_s + 5):
                return pipe.recv()
            return False, f"no answer within {limit_s} s"
        except (EOFError, ConnectionError):
            self._processes[rank].join(5)
            return False, f"the process ended, exit code {self._processes[rank].exitcode}"

    def stop(self):
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.send(None)
        for process in self._processes:
            process.join(15)
        codes = [process.exitcode for process in self._processes]
        self.kill()
        assert all(code == 0 for code in codes), f"exit codes {codes}"

    def kill(self):
        for process in self._processes:
            if process.is_alive():
                process.kill()
            process.join()
        for pipe in self._pipes:
            pipe.close()
        self._processes, self._pipes = [], []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
