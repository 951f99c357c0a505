"""Registration with torch.distributed."""

from __future__ import annotations

import atexit
import functools
from typing import TYPE_CHECKING

import torch.distributed as dist
from torch.distributed.constants import default_pg_timeout

from isthmus import _extension

if TYPE_CHECKING:
    from isthmus import _C

NAME = "isthmus"
# The extension module takes tensors of any device that torch has, and refuses by name what libisthmus cannot move.
DEVICES = ["cpu", "cuda"]


def register() -> None:
    """Makes "isthmus" a backend of torch.distributed. May be called any number of times."""
    if dist.is_available() and NAME not in dist.Backend.backend_list:
        dist.Backend.register_backend(NAME, _create, extended_api=True, devices=DEVICES)


@functools.cache
def _close_before_exit() -> None:
    """Ends all groups while Python still runs: completions may call back into it."""
    atexit.register(_extension.load().close_all)


def _create(arguments, options: _C.Options | None) -> _C.ProcessGroupIsthmus:
    """What torch.distributed calls for each new group. Its `timeout`, unless left at the default, replaces options'."""
    extension = _extension.load()
    if options is None:
        options = extension.Options()
    elif not isinstance(options, extension.Options):
        raise TypeError(f"isthmus: pg_options must be isthmus.Options, got {type(options).__name__}")
    else:
        options = options.__copy__()
    if arguments.timeout != default_pg_timeout:
        options._timeout = arguments.timeout
    options.group_name = arguments.group_id
    options.global_ranks_in_group = arguments.global_ranks_in_group
    _close_before_exit()
    return extension.ProcessGroupIsthmus(arguments.store, arguments.group_rank, arguments.group_size, options)
