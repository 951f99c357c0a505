"""python -m isthmus.info: versions, what this build has, and the option table."""

from __future__ import annotations

import torch

import isthmus
from isthmus import _extension

OPERATIONS = (
    "allreduce",
    "reduce",
    "broadcast",
    "all_gather",
    "all_gather_v",
    "reduce_scatter",
    "reduce_scatter_v",
    "gather",
    "gather_v",
    "scatter",
    "scatter_v",
    "all_to_all",
    "all_to_all_v",
    "allreduce_coalesced",
    "all_gather_coalesced",
    "reduce_scatter_coalesced",
    "barrier",
    "send",
    "recv",
    "batch_send_recv",
)
TRANSPORTS = ("libfabric", "ucx")


def report() -> str:
    extension = _extension.load()
    operations = [name for name in OPERATIONS if extension.supports_operation(name)]
    transports = [name for name in TRANSPORTS if extension.supports_transport(name)]
    lines = [
        f"isthmus {isthmus.__version__}, protocol {extension.protocol_version()}",
        f"torch {torch.__version__} (built for {extension.torch_version})",
        f"operations: {', '.join(operations)}",
        f"transports: {', '.join(transports)}",
        "",
    ]
    for row in isthmus.options():
        unit = f" {row.unit}" if row.unit else ""
        lines.append(f"{row.variable} ({row.type}, {row.range}{unit}; default {row.default or 'empty'})")
        lines.append(f"    {row.description}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
