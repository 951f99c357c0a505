"""Loads the extension module for the torch that runs, with an error that says what to do when there is none."""

from __future__ import annotations

import functools
import importlib
import pathlib
import types

import torch

_REMEDY = (
    "Build it for this torch, in a checkout of Isthmus: scripts/build, or, into an environment that has this torch, "
    "scikit-build-core, CMake and Ninja, pip install --no-build-isolation --no-deps ."
)


def _series(version: str) -> str:
    """2.13 of 2.13.0+cpu."""
    return ".".join(version.split("+")[0].split(".")[:2])


def built_for() -> list[str]:
    """The series of torch that this installation has a module for."""
    files = pathlib.Path(__file__).parent.glob("_torch_*.so")
    names = {file.name.split(".")[0].removeprefix("_torch_") for file in files}
    return [name.replace("_", ".") for name in sorted(names, key=lambda name: [int(part) for part in name.split("_")])]


@functools.cache
def load() -> types.ModuleType:
    """What _C.pyi describes; torch has no stable C++ interface for backends, so each of its series has its own."""
    series = _series(torch.__version__)
    if series not in built_for():
        raise ImportError(
            f"isthmus: there is no extension module for torch {torch.__version__}; this installation was built for "
            f"torch {', '.join(built_for()) or 'none'}. {_REMEDY}"
        )
    try:
        return importlib.import_module(f"isthmus._torch_{series.replace('.', '_')}")
    except ImportError as error:
        raise ImportError(
            f"isthmus: the extension module for torch {series} cannot be loaded with torch {torch.__version__}: "
            f"{error}. {_REMEDY}"
        ) from error
