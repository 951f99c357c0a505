"""Isthmus: collectives for one model trained across several sites.

Importing it, or installing it, makes "isthmus" a backend of torch.distributed, for CPU tensors as yet::

    import torch.distributed as dist

    dist.init_process_group("isthmus")

Options of the whole process are ISTHMUS_* variables (``python -m isthmus.info`` lists them); those of one group are
``isthmus.Options``, given as ``pg_options``; in a mesh, per dimension::

    across = isthmus.Options(timeout=datetime.timedelta(minutes=10))
    init_device_mesh("cpu", (sites, ranks), mesh_dim_names=("site", "shard"),
                     backend_override={"site": ("isthmus", across)})

Errors of an operation are raised by its call, or by its Work or future:

- ValueError: fix the call. It includes calls whose arguments differ between ranks.
- NotImplementedError: an operation, element type, operator or device that Isthmus does not have; nothing was sent.
- torch.distributed.DistBackendError: all others. The text begins with "isthmus: " and the category, such as
  "deadline_exceeded" (no progress within the timeout), "unavailable" (a peer or a site is gone), "aborted".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch.distributed as dist

    from isthmus._C import Options as Options
    from isthmus._C import ProcessGroupIsthmus as ProcessGroupIsthmus

    __version__: str

__all__ = ["Option", "Options", "ProcessGroupIsthmus", "__version__", "counters", "options", "sites"]


class Option(NamedTuple):
    """A row of the option table."""

    name: str
    variable: str
    type: str
    unit: str
    range: str
    default: str
    description: str


def options() -> list[Option]:
    """The option table: what the ISTHMUS_* variables may be set to."""
    return [Option(*row) for row in _load().option_table()]


def counters() -> dict[str, int]:
    """Bytes and operations of this process since its first group was made; zeros while there is none.

    ``wan_*_bytes`` are whole frames to and from other sites, ``site_*_bytes`` those of the own site.
    """
    return _load().counters()


def sites(group: dist.ProcessGroup | None = None) -> list[str]:
    """Name of the site of every rank of `group` (default: the world)."""
    import torch
    import torch.distributed as dist

    backend = (group or dist.group.WORLD)._get_backend(torch.device("cpu"))
    if not isinstance(backend, _load().ProcessGroupIsthmus):
        raise ValueError(f"isthmus.sites: the group's backend is {backend.name()!r}, not 'isthmus'")
    return backend.site_names()


def _load():
    from isthmus import _extension

    return _extension.load()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _load().version()
    if name in ("Options", "ProcessGroupIsthmus"):
        return getattr(_load(), name)
    raise AttributeError(f"module 'isthmus' has no attribute {name!r}")


def _autoload() -> None:
    """Entry point of `torch.backends` (called by `import torch`) and of `torch.distributed.backends`."""
    import torch.distributed  # noqa: F401  first: it may call this function itself

    from isthmus import _backend

    _backend.register()


# Last: `import torch` itself calls _autoload, in the middle of this module when it is imported first.
_autoload()
