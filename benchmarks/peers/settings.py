"""The settings of the comparison: a WAN, and what is reduced over it, with one rank per site."""

import dataclasses

MEBIBYTE = 1 << 20


@dataclasses.dataclass(frozen=True)
class Setting:
    name: str
    sites: int
    size_bytes: int
    rate_mbit: float  # of each site's line, up and down
    rtt_ms: float
    congestion: str
    loss_percent: float = 0
    mtu: int = 1500
    together: int = 1  # allreduces issued at once
    iterations: int = 5
    warmup: int = 2
    unit: str = "fill"  # what the time is compared with: fill, rtt, one-way

    def fill(self, time_us):
        """Bus bandwidth over the line's rate."""
        on_line_bits = 8 * self.together * self.size_bytes * 2 * (self.sites - 1) / self.sites
        return on_line_bits / time_us / self.rate_mbit

    def value(self, time_us):
        """The time in the setting's unit: a share of the line, or a number of trips."""
        if self.unit == "fill":
            return self.fill(time_us)
        return time_us / 1000 / (self.rtt_ms if self.unit == "rtt" else self.rtt_ms / 2)

    def lab_options(self):
        return [
            "--sites", str(self.sites), "--rate", f"{self.rate_mbit:g}mbit", "--rtt", f"{self.rtt_ms:g}ms",
            "--loss", f"{self.loss_percent:g}%", "--mtu", str(self.mtu), "--congestion", self.congestion,
        ]  # fmt: skip

    def quick(self):
        return dataclasses.replace(self, iterations=min(2, self.iterations), warmup=1)


def _two_sites(congestion, loss_percent=0.0, iterations=5, warmup=2):
    suffix = f"-loss{loss_percent:g}" if loss_percent else ""
    return Setting(f"2sites-{congestion}{suffix}", 2, 64 * MEBIBYTE, 200, 60, congestion, loss_percent,
                   iterations=iterations, warmup=warmup)  # fmt: skip


def _four_sites(congestion, loss_percent=0.0, iterations=7, warmup=3):
    suffix = f"-loss{loss_percent:g}" if loss_percent else ""
    return Setting(f"4sites-{congestion}{suffix}", 4, 16 * MEBIBYTE, 100, 40, congestion, loss_percent,
                   iterations=iterations, warmup=warmup)  # fmt: skip


# Where CUBIC meets loss, most need a minute for an iteration.
SETTINGS = [
    _two_sites("bbr"),
    _two_sites("cubic"),
    _two_sites("bbr", 0.1),
    _two_sites("cubic", 0.1, iterations=3, warmup=1),
    _two_sites("bbr", 1),
    _four_sites("bbr"),
    _four_sites("cubic"),
    _four_sites("bbr", 0.1),
    _four_sites("cubic", 0.1, iterations=3, warmup=1),
    Setting("long-bbr-loss0.1", 2, 64 * MEBIBYTE, 250, 200, "bbr", 0.1),
    Setting("long-cubic-loss0.1", 2, 64 * MEBIBYTE, 250, 200, "cubic", 0.1, iterations=2, warmup=1),
    Setting("together-100", 2, 65536, 500, 60, "bbr", mtu=9000, together=100, iterations=10, warmup=3, unit="rtt"),
    Setting("small-2sites", 2, 1024, 200, 60, "bbr", iterations=30, warmup=5, unit="one-way"),
    Setting("small-4sites", 4, 1024, 100, 60, "bbr", iterations=30, warmup=5, unit="one-way"),
]

TINY = Setting("tiny", 2, 512 * 1024, 50, 10, "reno", iterations=3, warmup=1)  # for a test of the driver itself


def find(name):
    """The setting of this name, or None."""
    return next((setting for setting in [*SETTINGS, TINY] if setting.name == name), None)
