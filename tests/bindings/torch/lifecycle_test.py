"""Acceptance cases: how groups and processes end (EL-04, LC-01, LC-02), and what a fork may do."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch
import torch.distributed as dist
from world import World

FORKED = pathlib.Path(__file__).with_name("forked.py")


def run_scenario(scenario, size, trials=1):
    """What forked.py reports; `extra_s` is how much longer a trial took than thrice what idle processes cost.

    To leave an interpreter that has torch takes most of a second of computing, which a busy machine stretches.
    """
    command = [sys.executable, str(FORKED), scenario, str(size), str(trials), "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150 + trials * 10)
    assert done.returncode == 0, done.stderr
    baseline, *results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == trials, done.stdout + done.stderr
    return [result | {"extra_s": result["elapsed_s"] - 3 * baseline["elapsed_s"]} for result in results]


def assert_clean(results, limit_s):
    for result in results:
        assert set(result["codes"]) == {0}, result
        assert result["stderr"] == "", result
        assert result["extra_s"] < limit_s, result


def test_el04_ranks_finish_in_random_order():
    assert_clean(run_scenario("el04_random_order", 5, trials=5), limit_s=5)


@pytest.mark.parametrize("scenario", ["lc01_unwaited", "lc01_only_rank_0_destroys", "lc01_destroy_twice"])
def test_lc01_ends_cleanly(scenario):
    assert_clean(run_scenario(scenario, 2), limit_s=10)


@pytest.mark.parametrize("scenario", ["lc01_unwaited_on_one_rank", "lc01_destroy_in_flight", "lc01_thread_waits"])
def test_lc01_ends_with_operations_in_flight(scenario):
    (result,) = run_scenario(scenario, 2)
    assert set(result["codes"]) == {0}, result
    assert result["extra_s"] < 10, result


def test_lc01_a_rank_that_fails_keeps_its_exit_code():
    (result,) = run_scenario("lc01_exception", 2)
    assert result["codes"] == [7, 8] and result["extra_s"] < 10, result


def test_fork_child_is_refused_and_disturbs_nothing():
    assert_clean(run_scenario("fork_child_leaves_alone", 2), limit_s=10)


def usage():
    status = pathlib.Path("/proc/self/status").read_text()
    resident_kib = int(status.split("VmRSS:")[1].split()[0])
    threads = int(status.split("Threads:")[1].split()[0])
    return len(list(pathlib.Path("/proc/self/fd").iterdir())), threads, resident_kib


def lc02(rank, size, times):
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    def use_group():
        group = dist.new_group()
        tensor = torch.ones(1000)
        dist.all_reduce(tensor, group=group)
        assert tensor[0] == size
        dist.destroy_process_group(group)

    for _ in range(10):
        use_group()
    before = usage()
    for _ in range(times):
        use_group()
    dist.barrier()
    after = usage()
    assert after[0] <= before[0] + 2, f"descriptors {before[0]} -> {after[0]}"
    assert after[1] <= before[1] + 1, f"threads {before[1]} -> {after[1]}"
    assert after[2] <= before[2] + 20 * 1024, f"resident KiB {before[2]} -> {after[2]}"


def test_lc02_groups_leak_nothing(pair):
    pair.run(lc02, times=50, limit_s=100)


def world_again(rank, size, folder):
    dist.destroy_process_group()
    before = usage()
    for step in range(3):
        dist.init_process_group("isthmus", f"file://{folder}/again{step}", world_size=size, rank=rank)
        dist.all_reduce(torch.ones(10))
        dist.destroy_process_group()
        after = usage()
        assert after[0] <= before[0] and after[1] <= before[1], (before, after)


def test_world_can_be_made_again(tmp_path):
    world = World(["north", "south"])
    world.run(world_again, folder=tmp_path)
    world.stop()


def lc04(rank, size, folder):
    """Signals whose handlers do not restart system calls, while a group is made and used."""
    dist.destroy_process_group()
    counted = []
    for number in (signal.SIGALRM, signal.SIGUSR1, signal.SIGCHLD):
        signal.signal(number, lambda *_: counted.append(1))  # Python's handlers come without SA_RESTART
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    stop = threading.Event()

    def storm():
        while not stop.wait(0.002):
            os.kill(os.getpid(), signal.SIGUSR1)
            os.kill(os.getpid(), signal.SIGCHLD)

    thread = threading.Thread(target=storm)
    thread.start()
    try:
        dist.init_process_group("isthmus", f"file://{folder}/storm", world_size=size, rank=rank)
        for _ in range(100):
            tensor = torch.ones(10_000)
            dist.all_reduce(tensor)
            assert (tensor == size).all()
    finally:
        stop.set()
        thread.join()
        signal.setitimer(signal.ITIMER_REAL, 0)
    dist.destroy_process_group()
    assert len(counted) > 50


def test_lc04_signals_disturb_nothing(tmp_path):
    world = World(["north", "south", "north"])
    world.run(lc04, folder=tmp_path)
    world.stop()


def lc06(rank, size):
    """Processor time of a group that is idle, and of one that waits for a late rank."""
    dist.barrier()
    before = time.process_time()
    time.sleep(4)
    idle = (time.process_time() - before) / 4
    dist.barrier()
    if rank == 0:
        time.sleep(5)
    before = time.process_time()
    dist.all_reduce(torch.ones(10))
    return idle, time.process_time() - before


def test_lc06_waiting_costs_hardly_any_processor_time(world):
    for idle, late_s in world.run(lc06):
        assert idle < 0.02
        assert late_s < 0.25


def test_lc08_ranks_that_send_first_and_free_at_once():
    assert_clean(run_scenario("lc08_send_first", 2, trials=10), limit_s=5)


def callback_runs_without_deadlock(rank, size):
    """The main thread holds the GIL for long while callbacks wait for it, and drops groups meanwhile."""
    for _ in range(20):
        group = dist.new_group()
        counted = []
        for _ in range(10):
            work = dist.all_reduce(torch.ones(100), group=group, async_op=True)
            work.get_future().then(lambda done, counted=counted: counted.append(threading.get_ident()))
        dist.barrier(group=group)
        dist.destroy_process_group(group)
        del group
        assert len(counted) == 10


def test_callbacks_and_destruction_do_not_deadlock(pair):
    pair.run(callback_runs_without_deadlock)
