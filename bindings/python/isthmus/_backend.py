"""Registration with torch.distributed."""

from __future__ import annotations

import atexit
import functools
from typing import TYPE_CHECKING

import torch.distributed as dist

from isthmus import _extension

if TYPE_CHECKING:
    from isthmus import _C

NAME = "isthmus"


def register() -> None:
    """Makes "isthmus" a backend for CPU tensors. May be called any number of times."""
    if dist.is_available() and NAME not in dist.Backend.backend_list:
        dist.Backend.register_backend(NAME, _create, extended_api=True, devices=["cpu"])


@functools.cache
def _close_before_exit() -> None:
    """Ends all groups while Python still runs: completions may call back into it."""
    atexit.register(_extension.load().close_all)


def _create(arguments, options: _C.Options | None) -> _C.ProcessGroupIsthmus:
    """What torch.distributed calls for each new group. Its own `timeout` replaces that of `options`."""
    extension = _extension.load()
    if options is None:
        options = extension.Options()
    elif not isinstance(options, extension.Options):
        raise TypeError(f"isthmus: pg_options must be isthmus.Options, got {type(options).__name__}")
    else:
        options = options.__copy__()
    options._timeout = arguments.timeout
    options.group_name = arguments.group_id
    options.global_ranks_in_group = arguments.global_ranks_in_group
    _close_before_exit()
    return extension.ProcessGroupIsthmus(arguments.store, arguments.group_rank, arguments.group_size, options)
