"""What one run measured, and the figures that follow from it."""

from __future__ import annotations

import statistics
from typing import Any

from lab import Run


class Measured:
    """A run with its measurements; `data` is what train.py wrote."""

    def __init__(self, run: Run, data: dict[str, Any]) -> None:
        self.run, self.data = run, data
        self.losses: list[float] = data["losses"]
        self.ends_seconds: list[float] = data["ends_seconds"]
        self.steps: int = data["steps"]
        self.wall_seconds: float = data["wall_seconds"]
        self.lab: dict[str, Any] = data["lab"]  # its --stats-json

    @property
    def measured_step_seconds(self) -> list[float]:
        return self.data["step_seconds"][self.data["first_measured_step"] :]

    @property
    def median_step_seconds(self) -> float:
        return statistics.median(self.measured_step_seconds)

    def step_percentile_seconds(self, percent: int) -> float:
        return statistics.quantiles(self.measured_step_seconds, n=100, method="inclusive")[percent - 1]

    @property
    def wan_bytes_per_step(self) -> float | None:
        """That a site sent, mean over the sites; nothing for a run without a WAN."""
        if self.run.flat or self.data["counted_steps"] == 0:
            return None
        return statistics.mean(self.data["sent_bytes_of_sites"]) / self.data["counted_steps"]

    @property
    def carried_bytes(self) -> int:
        """By the emulated WAN, from all sites, in the whole run."""
        return sum(site["up_bytes"] for site in self.lab["sites"])

    @property
    def was_cut_short(self) -> bool:
        return self.steps < self.data["steps_asked"]

    @property
    def seconds_beside_steps(self) -> float:
        """Start of Python and of the group, reading the text, the end."""
        return self.wall_seconds - self.ends_seconds[-1]


def allreduce_bound_bytes(measured: Measured, sites: int) -> float:
    """The least that each site must send when the gradients of all sites are summed without compression."""
    return 2 * (sites - 1) / sites * measured.data["gradient_bytes"]


def largest_loss_difference(first: Measured, second: Measured) -> tuple[float, int]:
    """Over the steps that both made, and how many those are."""
    pairs = list(zip(first.losses, second.losses, strict=False))
    return max(abs(a - b) for a, b in pairs), len(pairs)
