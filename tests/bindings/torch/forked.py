"""Runs one program in many processes that end as Python programs end: python forked.py SCENARIO WORLD TRIALS LIMIT_S.

Importing torch takes seconds, so one process does it and forks the ranks of every trial; each rank then leaves through
the interpreter's own exit. For each trial a line of JSON: exit codes (negative: signal), seconds until the last exit,
and what the ranks wrote to standard error. The first trial is of ranks that do nothing: what any process costs here.
"""

import datetime
import gc
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import warnings

import isthmus  # noqa: F401
import torch
import torch.distributed as dist
from isthmus import _extension

_extension.load()

# CPython 3.12 and later warn of every fork of a process with threads, which is what these scenarios are about.
warnings.filterwarnings("ignore", message=".*fork\\(\\).*", category=DeprecationWarning)


def group_of(rank, size, folder, timeout_s=20):
    torch.set_num_threads(1)
    os.environ["ISTHMUS_SITE"] = f"site{rank % 3}"
    os.environ["ISTHMUS_SECURITY"] = "off"
    timeout = datetime.timedelta(seconds=timeout_s)
    dist.init_process_group("isthmus", f"file://{folder}/store", timeout, size, rank)
    tensor = torch.ones(10)
    dist.all_reduce(tensor)
    assert tensor[0] == size


def nothing(rank, size, folder):
    pass


def el04_random_order(rank, size, folder):
    group_of(rank, size, folder)
    if rank > 0:
        time.sleep(random.Random(f"{folder}{rank}").random() * 0.3)
    dist.destroy_process_group()


def lc01_unwaited(rank, size, folder):
    group_of(rank, size, folder)
    works = [dist.all_reduce(torch.ones(100_000), async_op=True) for _ in range(8)]
    works[0].get_future().then(lambda done: done.value())


def lc01_unwaited_on_one_rank(rank, size, folder):
    group_of(rank, size, folder, timeout_s=8)
    work = dist.all_reduce(torch.ones(100_000), async_op=True) if rank == 0 else None
    if rank == 0:
        work.get_future().then(lambda done: None)


def lc01_only_rank_0_destroys(rank, size, folder):
    group_of(rank, size, folder)
    if rank == 0:
        dist.destroy_process_group()


def lc01_destroy_twice(rank, size, folder):
    group_of(rank, size, folder)
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    dist.destroy_process_group()
    backend.shutdown()


def lc01_destroy_in_flight(rank, size, folder):
    group_of(rank, size, folder)
    work = dist.irecv(torch.ones(5), (rank + 1) % size)
    dist.destroy_process_group()
    try:
        work.wait()
    except dist.DistBackendError as error:
        assert "aborted" in str(error) or "unavailable" in str(error), error
    else:
        raise AssertionError("a receive without a sender succeeded")


def lc01_exception(rank, size, folder):
    group_of(rank, size, folder)
    if rank == 0:
        raise SystemExit(7)
    try:
        dist.all_reduce(torch.ones(5))
    except dist.DistBackendError:
        sys.exit(8)


def lc01_thread_waits(rank, size, folder):
    import threading

    group_of(rank, size, folder)

    def wait():
        try:
            dist.recv(torch.ones(5), (rank + 1) % size)
        except dist.DistBackendError:
            pass

    threading.Thread(target=wait, daemon=True).start()
    time.sleep(0.2)


def lc08_send_first(rank, size, folder):
    torch.set_num_threads(1)
    os.environ["ISTHMUS_SITE"] = f"site{rank}"
    os.environ["ISTHMUS_SECURITY"] = "off"
    dist.init_process_group("isthmus", f"file://{folder}/store", world_size=size, rank=rank)
    peer = 1 - rank
    received = torch.zeros(70_000)
    work = dist.isend(torch.full((70_000,), float(rank)), peer)
    dist.recv(received, peer)
    assert (received == peer).all()
    work.wait()
    del work, received
    dist.destroy_process_group()


def fork_child_leaves_alone(rank, size, folder):
    group_of(rank, size, folder)
    child = os.fork()
    if child == 0:
        backend = dist.group.WORLD._get_backend(torch.device("cpu"))
        try:
            dist.all_reduce(torch.ones(5))
            sys.exit(2)
        except dist.DistBackendError as error:
            assert "unavailable" in str(error) and "fork" in str(error), error
        try:
            dist.new_group([rank])
            sys.exit(3)
        except dist.DistBackendError as error:
            assert "fork" in str(error), error
        del backend
        sys.exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, code
    tensor = torch.ones(5)
    dist.all_reduce(tensor)
    assert tensor[0] == size
    dist.destroy_process_group()


def become_rank(scenario, rank, size, folder, error_path):
    error = os.open(error_path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(error, 2)
    sys.stdout = open(os.devnull, "w")
    globals()[scenario](rank, size, folder)


def wait_for(children, limit_s):
    """Exit codes; what still runs after limit_s is killed."""
    codes = dict.fromkeys(children)
    end = time.monotonic() + limit_s
    while None in codes.values():
        for child in [child for child, code in codes.items() if code is None]:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                codes[child] = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                os.kill(child, 9)
        time.sleep(0.005)
    return [codes[child] for child in children]


def trial(scenario, size, limit_s):
    """None in a rank: its program has ended, and it leaves by returning from main."""
    folder = tempfile.mkdtemp(prefix="isthmus-trial-")  # not a context: ranks would remove it
    begin = time.monotonic()
    paths = [os.path.join(folder, f"stderr{rank}") for rank in range(size)]
    children = []
    for rank in range(size):
        child = os.fork()
        if child == 0:
            become_rank(scenario, rank, size, folder, paths[rank])
            return None
        children.append(child)
    codes = wait_for(children, limit_s)
    elapsed_s = time.monotonic() - begin
    stderr = "".join(pathlib.Path(path).read_text() for path in paths)
    shutil.rmtree(folder)
    return {"codes": codes, "elapsed_s": elapsed_s, "stderr": stderr}


def main():
    scenario, size, trials, limit_s = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    gc.freeze()  # ranks need not look through all of torch when they end
    for name in ["nothing"] + [scenario] * trials:
        result = trial(name, size, limit_s)
        if result is None:
            return
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
