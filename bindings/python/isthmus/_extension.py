"""Loads the extension module, with an error that says what to do when it cannot be."""

from __future__ import annotations

import functools
import types

import torch


def _series(version: str) -> str:
    return ".".join(version.split("+")[0].split(".")[:2])


@functools.cache
def load() -> types.ModuleType:
    """isthmus._C, for the torch series that it was built for: torch has no stable C++ interface for backends."""
    try:
        from isthmus import _C
    except ImportError as error:
        raise ImportError(
            f"isthmus: its extension module cannot be loaded with torch {torch.__version__}: {error}. "
            "Build it for this torch: scripts/build in a checkout, or pip install isthmus."
        ) from error
    if _series(_C.torch_version) != _series(torch.__version__):
        raise ImportError(
            f"isthmus: its extension module was built for torch {_C.torch_version}, this is torch {torch.__version__}. "
            "Build it for this torch: scripts/build in a checkout, or pip install isthmus."
        )
    return _C
