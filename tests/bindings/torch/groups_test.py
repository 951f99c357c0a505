"""Groups: by name and device map, made of one another, with options of their own, over a mesh of sites."""

import datetime

import isthmus
import pytest
import torch
import torch.distributed as dist
from world import World

CPU = torch.device("cpu")


def seconds(value):
    return datetime.timedelta(seconds=value)


def own(group):
    return group._get_backend(CPU)


def total_of(group, rank):
    tensor = torch.full((100,), float(rank))
    dist.all_reduce(tensor, group=group)
    return tensor[0].item()


def device_maps(rank, size):
    for name in ("isthmus", "cpu:isthmus,cuda:isthmus", "cpu:isthmus"):
        group = dist.new_group(backend=name)
        assert own(group).name() == "isthmus" and total_of(group, rank) == sum(range(size))
        if "cuda" in name or name == "isthmus":
            assert own(group) == group._get_backend(torch.device("cuda"))
        dist.barrier(group=group)
        dist.destroy_process_group(group)


def test_device_maps(world):
    world.run(device_maps)


def timeouts(rank, size):
    world = own(dist.group.WORLD).options
    chosen = [
        (dist.new_group(), seconds(1800)),
        (dist.new_group(timeout=seconds(11)), seconds(11)),
        (dist.new_group(pg_options=isthmus.Options(timeout=seconds(12))), seconds(12)),
        (dist.new_group(timeout=seconds(13), pg_options=isthmus.Options(timeout=seconds(12))), seconds(13)),
    ]
    for group, expected in chosen:
        options = own(group).options
        assert options._timeout == expected and options.group_name == group.group_name
        assert list(options.global_ranks_in_group) == list(range(size))
    own(chosen[0][0]).set_timeout(seconds(14))
    assert own(chosen[0][0]).options._timeout == seconds(14) and world._timeout == seconds(30)
    for group, _ in chosen:
        dist.destroy_process_group(group)


def test_timeouts_of_groups(pair):
    pair.run(timeouts)


def split_in_two(rank, size):
    """Even and odd ranks; the second half of them reversed, and rank 1 in none of two overlapping calls."""
    parent = dist.group.WORLD
    ranks = list(range(rank % 2, size, 2))
    child = parent.split_group(ranks, timeout=seconds(21), group_name=f"split{rank % 2}")
    assert (child.rank(), child.size()) == (rank // 2, len(ranks))
    tensor = torch.full((1000,), float(rank))
    child.allreduce([tensor]).wait()
    assert tensor[0] == sum(ranks)
    assert own(child).options._timeout == seconds(21) and own(parent).options._timeout == seconds(30)
    assert list(own(child).options.global_ranks_in_group) == ranks
    grandchild = child.split_group([0], group_name=f"alone{rank % 2}")
    assert (grandchild is None) == (child.rank() != 0)
    for group in (grandchild, child):
        if group is not None:
            own(group).shutdown()
    assert total_of(parent, rank) == sum(range(size))


def test_split(world):
    world.run(split_in_two)


def split_refusals(rank, size):
    backend = own(dist.group.WORLD)
    assert backend.supports_splitting
    backend.perform_nocolor_split(torch.device("cpu"))
    for ranks in ([], [0, 0], [0, size]):
        with pytest.raises((ValueError, RuntimeError)):  # the first by torch itself
            dist.group.WORLD.split_group(ranks, group_name="wrong")


def test_split_refuses_wrong_ranks(pair):
    pair.run(split_refusals)


def shrink_by_one(rank, size):
    """The last rank leaves; the group that is left is broken first, as by its death."""
    group = dist.new_group()
    backend = own(group)
    if rank == size - 1:
        dist.barrier()
        return
    smaller = backend.shrink([size - 1], 0, backend.options)
    assert (smaller.rank(), smaller.size()) == (rank, size - 1)
    tensor = torch.ones(10)
    smaller.allreduce([tensor]).wait()
    assert tensor[0] == size - 1
    smaller.shutdown()
    dist.barrier()


def test_shrink(world):
    world.run(shrink_by_one)


def waits_for_pending(rank, size):
    group = dist.group.WORLD
    works = [dist.all_reduce(torch.ones(100_000), async_op=True) for _ in range(20)]
    group._wait_for_pending_works()
    assert all(work.is_completed() for work in works)
    group._enable_collectives_timing()


def test_wait_for_pending_works(world):
    world.run(waits_for_pending)


def silent_inside_a_site(rank, size):
    """Payload of a group of one site stays there: nothing of it is counted as sent to other sites."""
    names = isthmus.sites()
    groups = {name: dist.new_group([r for r in range(size) if names[r] == name]) for name in sorted(set(names))}
    mine = groups[names[rank]]
    dist.barrier()
    before = isthmus.counters()["wan_sent_bytes"]
    for _ in range(5):
        dist.all_reduce(torch.ones(500_000), group=mine)
    sent = isthmus.counters()["wan_sent_bytes"] - before
    dist.barrier()
    assert sent < 10_000, f"{sent} bytes left the site"
    assert len(set(isthmus.sites(mine))) == 1


def test_a_group_inside_a_site_sends_nothing_to_others(two_by_two):
    two_by_two.run(silent_inside_a_site)


def nothing_on_the_wan(rank, size):
    """Groups of one site each, in a world that has not called anything: not even a link to another site is opened."""

    def sent_and_received():
        counters = isthmus.counters()
        return counters["wan_sent_bytes"], counters["wan_received_bytes"]

    names = isthmus.sites()
    groups = {name: dist.new_group([r for r in range(size) if names[r] == name]) for name in sorted(set(names))}
    mine = groups[names[rank]]
    peers = dist.get_process_group_ranks(mine)
    for _ in range(3):
        assert total_of(mine, rank) == sum(peers)
        dist.barrier(group=mine)
        dist.all_gather_into_tensor(torch.empty(2000), torch.ones(1000), group=mine)
    assert sent_and_received() == (0, 0)
    store = dist.distributed_c10d._get_default_store()
    store.set(f"quiet{rank}", "")
    store.wait([f"quiet{peer}" for peer in range(size)])  # what a faster rank sends below must not be counted above
    dist.all_reduce(torch.ones(1000))
    assert min(sent_and_received()) > 0, "the counters do not count"


def test_groups_inside_sites_open_no_link_between_them():
    world = World(["north", "south", "north", "south"])
    world.run(nothing_on_the_wan)
    world.stop()


def mesh_of_sites(rank, size):
    """Ranks alternate between the sites here, so the mesh is made of a permutation."""
    from torch.distributed.device_mesh import DeviceMesh

    mesh = DeviceMesh(
        "cpu",
        torch.tensor([[0, 2], [1, 3]]),
        mesh_dim_names=("site", "shard"),
        backend_override=((("isthmus", isthmus.Options(timeout=seconds(40)))), (None, None)),
    )
    assert own(mesh.get_group("site")).options._timeout == seconds(40)
    assert len(set(isthmus.sites(mesh.get_group("shard")))) == 1
    assert len(set(isthmus.sites(mesh.get_group("site")))) == 2
    assert total_of(mesh.get_group("site"), rank) == sum((0, 1) if rank < 2 else (2, 3))
    flat = mesh._flatten()
    assert flat.size() == size and total_of(flat.get_group(), rank) == sum(range(size))


def test_device_mesh(two_by_two):
    two_by_two.run(mesh_of_sites)
