"""Arrows point down: every #include is an edge of EDGES, and third-party headers stay inside their fences.

The two tables are the architecture. tests and benchmarks may include anything; nothing may include them.
"""

import pathlib
import re

import tree

RUNTIME = ("base", "config", "device", "transport", "security", "control", "bootstrap", "link", "engine")
ALL_RUNTIME = {f"runtime/{name}" for name in RUNTIME}
PUBLIC = "bindings/c/include"  # the installed headers: <isthmus/...>


def runtime(*names: str) -> set[str]:
    return {f"runtime/{name}" for name in ("base", "config", *names)}


# Folder -> folders and files that it may include besides itself. A file belongs to the longest row that matches; a row
# covers what is below it.
EDGES = {
    "runtime/base": set(),
    "runtime/config": {"runtime/base"},
    "runtime/device": runtime(),
    "runtime/transport": runtime("device"),
    "runtime/security": runtime(),
    "runtime/control": runtime("security"),
    "runtime/bootstrap": runtime("control", "security", "transport"),
    "runtime/link": runtime("control", "security", "transport"),
    "runtime/engine": ALL_RUNTIME,
    "compression": runtime("device"),
    "collectives": {"compression"} | ALL_RUNTIME,
    # Pure arithmetic: it fills the engine's step types and touches nothing that moves bytes.
    "collectives/schedule": {"runtime/base", "runtime/engine", "collectives/site_map.h"},
    # Arithmetic too: plans and simulations know schedules, and nothing that moves bytes.
    "collectives/plan": {"runtime/base", "runtime/config", "collectives/schedule"},
    "collectives/simulate": {
        "runtime/base",
        "runtime/engine",
        "collectives/plan",
        "collectives/schedule",
        "collectives/site_map.h",
    },
    PUBLIC: set(),
    "bindings/c": {PUBLIC, "collectives", "compression"} | ALL_RUNTIME,
    "bindings/cli": {PUBLIC, "collectives", "compression"} | ALL_RUNTIME,
    "bindings/torch": {PUBLIC},
    "bindings/python": {PUBLIC},
    "bindings/mpi": {PUBLIC},
    "examples": {PUBLIC},
}
ANYTHING = ("tests", "benchmarks")

# What a third-party include begins with -> folders that may have it.
FENCES = {
    r"rdma/": {"runtime/transport/libfabric"},
    r"(ucp|uct|ucs|ucc)/": {"runtime/transport/ucx"},
    r"xxh": {"runtime/link"},
    r"hwy/": {"runtime/device"},
    r"openssl/": {"runtime/security", "runtime/control"},
    r"nccl": {"collectives/local"},
    r"mpi(\.h|-ext\.h|/)": {"bindings/mpi"},
    r"(cuda|cublas|cub/|thrust/|nvtx|nvrtc)": {"runtime/device", "compression/kernels/cuda", "collectives/local"},
    r"(zstd|zdict)": {"compression/zstd"},
    r"toml": {"collectives/plan"},
    r"CLI/": {"bindings/cli"},
    r"(torch|c10|c10d|ATen|caffe2|pybind11)/": {"bindings/torch"},
    r"Python\.h": {"bindings/torch"},
    r"(gtest|gmock)/": set(),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def owner(path: str) -> str | None:
    """The row of EDGES that a file belongs to."""
    return max((folder for folder in EDGES if inside(path, folder)), key=len, default=None)


def resolve(root: pathlib.Path, source: pathlib.Path, name: str) -> str | None:
    """The file of ours that an include names, as a path from the root."""
    for candidate in (root / name, (root / source).parent / name, root / PUBLIC / name):
        if candidate.is_file():
            return str(candidate.resolve().relative_to(root))
    # Generated, so only in build folders.
    return f"{PUBLIC}/{name}" if name == "isthmus/version.h" else None


def check_edge(source: str, target: str) -> str | None:
    if any(inside(target, folder) for folder in ANYTHING):
        return "nothing may include tests or benchmarks"
    origin, goal = owner(source), owner(target)
    if origin is None:
        return "its folder has no row in the table of edges"
    if any(inside(target, allowed) for allowed in EDGES[origin] | {origin}):
        return None
    return f"{origin} may not include {goal or target}"


def check_third_party(source: str, name: str) -> str | None:
    for pattern, folders in FENCES.items():
        if re.match(pattern, name) and not any(inside(source, folder) for folder in folders):
            return f"<{name}> is only for {', '.join(sorted(folders)) or 'tests'}"
    return None


def check_include(root: pathlib.Path, source: pathlib.Path, quoted: str | None, angled: str | None) -> str | None:
    target = resolve(root, source, quoted or angled)
    if quoted and target is None and not any(re.match(pattern, quoted) for pattern in FENCES):
        return f'"{quoted}" names no file'
    if any(inside(str(source), folder) for folder in ANYTHING):
        return None
    return check_edge(str(source), target) if target else check_third_party(str(source), quoted or angled)


def check(root: pathlib.Path) -> list[str]:
    problems = []
    for source in tree.files(root, (*tree.PRODUCT, "tests"), tree.CODE):
        for number, line in tree.lines(root / source):
            found = INCLUDE.match(line)
            problem = check_include(root, source, *found.groups()) if found else None
            if problem:
                problems.append(f"{source}:{number}: {problem}")
    return problems


if __name__ == "__main__":
    tree.main(check)
