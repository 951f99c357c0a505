"""How failures reach the caller: deadlines, ranks that are gone, aborts, groups that were shut down."""

import datetime
import os
import time

import pytest
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import ErrorType
from world import World


def seconds(value):
    return datetime.timedelta(seconds=value)


def backend_of(group):
    return group._get_backend(torch.device("cpu"))


OPERATIONS = {
    "allreduce": lambda group: dist.all_reduce(torch.ones(4), group=group, async_op=True),
    "broadcast": lambda group: dist.broadcast(torch.ones(4), 1, group=group, async_op=True),
    "allgather": lambda group: dist.all_gather_into_tensor(torch.ones(8), torch.ones(4), group=group, async_op=True),
    "recv": lambda group: dist.irecv(torch.ones(4), 1, group=group),
    "barrier": lambda group: dist.barrier(group=group, async_op=True),
}


def wait_gives_up(rank, size):
    for name, start in OPERATIONS.items():
        group = dist.new_group(timeout=seconds(30))
        if rank == 0:
            work = start(group)
            for _ in range(2):
                begin = time.monotonic()
                with pytest.raises(dist.DistBackendError, match="deadline_exceeded: .*still in flight"):
                    work.wait(seconds(0.5))
                assert 0.4 < time.monotonic() - begin < 2, name
            assert not work.is_completed()
        dist.barrier()
        if rank == 1:
            if name == "recv":
                dist.send(torch.ones(4), 0, group=group)
            else:
                start(group).wait()
        else:
            assert work.wait(seconds(20)), name
        dist.destroy_process_group(group)


def test_wait_with_a_timeout_cancels_nothing(pair):
    pair.run(wait_gives_up)


def operation_times_out(rank, size):
    group = dist.new_group(timeout=seconds(20))
    if rank == 0:
        backend_of(group).set_timeout(seconds(1))
        begin = time.monotonic()
        work = dist.all_reduce(torch.ones(4), group=group, async_op=True)
        future = work.get_future()
        seen = []
        chained = future.then(lambda done: seen.append(done))
        with pytest.raises(dist.DistBackendError, match="deadline_exceeded"):
            work.wait()
        assert 0.8 < time.monotonic() - begin < 5
        with pytest.raises(RuntimeError, match="deadline_exceeded"):
            future.wait()
        chained.wait()
        assert len(seen) == 1
        with pytest.raises(RuntimeError, match="deadline_exceeded"):
            seen[0].value()
        assert work.is_completed() and not work.is_success()
        with pytest.raises(dist.DistBackendError):
            dist.all_reduce(torch.ones(4), group=group)
        assert backend_of(group).get_error() != ErrorType.SUCCESS
    dist.barrier()
    assert backend_of(dist.group.WORLD).get_error() == ErrorType.SUCCESS
    dist.destroy_process_group(group)


def test_operation_times_out_and_work_and_future_agree(pair):
    pair.run(operation_times_out)


def own_timeouts(rank, size):
    """That of the call goes before that of its group, which goes before the world's."""
    options = dist.AllreduceOptions()
    options.timeout = seconds(1)
    for group_s, call in [
        (1, lambda backend: backend.allreduce([torch.ones(4)])),
        (25, lambda backend: backend.allreduce([torch.ones(4)], options)),
    ]:
        group = dist.new_group(timeout=seconds(group_s))
        dist.barrier()
        if rank == 0:
            begin = time.monotonic()
            with pytest.raises(dist.DistBackendError, match="deadline_exceeded"):
                call(backend_of(group)).wait()
            assert 0.8 < time.monotonic() - begin < 6
        dist.barrier()
        dist.destroy_process_group(group)


def test_groups_and_calls_have_timeouts_of_their_own(pair):
    pair.run(own_timeouts)


def monitored_barriers(rank, size):
    """torch.distributed.monitored_barrier() admits Gloo alone; the group's method is for every backend."""
    dist.group.WORLD.monitored_barrier(seconds(10))
    group = dist.new_group()
    dist.barrier()
    if rank == 0:
        with pytest.raises(dist.DistBackendError, match="deadline_exceeded: .*rank 1"):
            group.monitored_barrier(seconds(1))
    dist.barrier()
    dist.destroy_process_group(group)


def test_monitored_barrier_names_who_is_missing(pair):
    pair.run(monitored_barriers)


def aborts(rank, size):
    group = dist.new_group()
    if rank == 0:
        work = dist.all_reduce(torch.ones(4), group=group, async_op=True)
    else:
        work = dist.irecv(torch.ones(4), 0, group=group)
    dist.barrier()  # both are in flight: a call after the abort would be refused
    if rank == 0:
        backend_of(group).abort()
    begin = time.monotonic()
    with pytest.raises(dist.DistBackendError, match="aborted"):
        work.wait()
    assert time.monotonic() - begin < 5
    untouched = torch.arange(4.0)
    with pytest.raises(dist.DistBackendError, match="aborted"):
        dist.all_reduce(untouched, group=group)
    assert torch.equal(untouched, torch.arange(4.0))
    dist.destroy_process_group(group)
    dist.barrier()


def test_abort_reaches_every_rank(pair):
    pair.run(aborts)


def after_shutdown(rank, size):
    group = dist.new_group()
    backend = backend_of(group)
    dist.all_reduce(torch.ones(1), group=group)
    dist.barrier()
    dist.destroy_process_group(group)
    backend.shutdown()
    backend.abort()
    with pytest.raises(dist.DistBackendError, match="aborted: process group .* was shut down"):
        backend.allreduce([torch.ones(1)]).wait()
    dist.barrier()


def test_calls_after_shutdown_say_so(pair):
    pair.run(after_shutdown)


def survivors_raise(rank, size):
    dist.all_reduce(torch.ones(1))
    if rank == 1:
        os._exit(0)
    begin = time.monotonic()
    with pytest.raises(dist.DistBackendError, match="unavailable: .*rank 1") as caught:
        for _ in range(1000):
            dist.all_reduce(torch.ones(1_000_000))
            time.sleep(0.01)
    return time.monotonic() - begin, str(caught.value)


def test_a_rank_that_dies_is_named_by_all_others():
    world = World(["north", "south", "east"])
    world.start()
    for pipe in world._pipes:
        pipe.send((survivors_raise, {}, 30))
    for rank in (0, 2):
        good, answer = world._receive(rank, world._pipes[rank], 30)
        assert good, answer
        assert answer[0] < 5, answer
    world.kill()


def every_observer_agrees(rank, size):
    """PG-08: one error, seen through the work, its future and what hangs on them, once each."""
    good = dist.all_reduce(torch.ones(3), async_op=True)
    good.wait()
    assert good.is_success() and torch.equal(good.result()[0], torch.full((3,), float(size)))
    if rank == 1:
        os._exit(0)
    works = [dist.all_reduce(torch.ones(1_000_000), async_op=True) for _ in range(3)]
    called = []
    futures = [work.get_future() for work in works]
    chained = [future.then(lambda done, number=number: called.append(number)) for number, future in enumerate(futures)]
    messages = []
    for work, future in zip(works, futures, strict=True):
        for wait in (work.wait, future.wait, lambda future=future: torch.futures.wait_all([future])):
            with pytest.raises(RuntimeError, match="unavailable: .*rank 1") as caught:
                wait()
            messages.append(str(caught.value))
        assert work.is_completed() and not work.is_success()
    torch.futures.wait_all(chained)
    assert sorted(called) == [0, 1, 2]
    return messages


def test_pg08_every_observer_of_a_failure_sees_the_same():
    world = World(["north", "south", "east"])
    world.start()
    for pipe in world._pipes:
        pipe.send((every_observer_agrees, {}, 30))
    for rank in (0, 2):
        good, messages = world._receive(rank, world._pipes[rank], 30)
        assert good, messages
        for first in range(0, len(messages), 3):
            assert all(messages[first] in each or each in messages[first] for each in messages[first : first + 3])
    world.kill()


def rank_that_never_comes(rank, size, folder):
    options = dict(init_method=f"file://{folder}/late", world_size=2, timeout=seconds(2))
    dist.destroy_process_group()
    begin = time.monotonic()
    with pytest.raises((dist.DistBackendError, dist.DistStoreError), match="rank"):
        dist.init_process_group("isthmus", rank=0, **options)
    assert time.monotonic() - begin < 10


def test_a_rank_that_never_comes(tmp_path):
    world = World(["north"])
    world.run(rank_that_never_comes, folder=tmp_path)
    world.stop()


def site_on_some_ranks_only(rank, size, folder):
    dist.destroy_process_group()
    if rank == 1:
        del os.environ["ISTHMUS_SITE"]
    with pytest.raises(ValueError, match="1"):
        dist.init_process_group("isthmus", init_method=f"file://{folder}/half", rank=rank, world_size=size)


def test_sites_given_on_some_ranks_only(tmp_path):
    world = World(["north", "south"])
    world.run(site_on_some_ranks_only, folder=tmp_path)
    world.stop()


def bad_option(rank, size, folder):
    dist.destroy_process_group()
    os.environ["ISTHMUS_CHUNK_BYTE"] = "1"
    with pytest.raises(ValueError, match="ISTHMUS_CHUNK_BYTES"):
        dist.init_process_group("isthmus", init_method=f"file://{folder}/bad", rank=0, world_size=1)


def test_unknown_variable_is_refused_with_the_nearest_name(tmp_path):
    world = World(["north"])
    world.run(bad_option, folder=tmp_path)
    world.stop()
