"""Worlds that the tests of one file share."""

import pytest
from world import World


def _world(sites):
    world = World(sites)
    yield world
    world.stop()


@pytest.fixture(scope="session")
def pair():
    """Two ranks in two sites."""
    yield from _world(["north", "south"])


@pytest.fixture(scope="session")
def three_sites():
    """Three ranks in three sites."""
    yield from _world(["north", "south", "east"])


@pytest.fixture(scope="session")
def two_by_two():
    """Four ranks, whose numbers alternate between two sites."""
    yield from _world(["north", "south", "north", "south"])


@pytest.fixture(scope="session", params=["three_sites", "two_by_two"])
def world(request):
    """Every layout in turn."""
    return request.getfixturevalue(request.param)
