"""Bytes on the wire, as the kernel of this site counts them: the same measure for every backend."""

from __future__ import annotations

import pathlib


def sent_bytes(table: str | None = None) -> int:
    """Bytes that all interfaces of this network namespace but its loopback have sent, IP and TCP headers included.

    In the lab a site is a namespace whose only other interface leads to the WAN, so ranks of one site see one number.
    """
    if table is None:
        table = pathlib.Path("/proc/self/net/dev").read_text()
    total = 0
    for line in table.splitlines()[2:]:
        name, _, counters = line.partition(":")
        if name.strip() != "lo":
            total += int(counters.split()[8])
    return total
