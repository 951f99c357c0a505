"""TCP over the emulated WAN behaves as it does over a real one. Takes two minutes, and both cores."""

import json
import pathlib
import tempfile
import unittest

from lab_support import IS_ROOT, main, pair_of, run_with_stats

# -w: with the kernel's usual 4 MB of automatic send buffer, BBR never leaves its start phase on this line.
SCRIPT = """
[ $RANK = 0 ] && exec iperf3 -s -1 > /dev/null
[ $RANK = 1 ] || exit 0
sleep 1
exec iperf3 -c 10.77.0.1 -J -w 4M -t {seconds} -O 2 -P {streams} > {result}
"""


def stream(*options, seconds=8, streams=1):
    """Mbit/s of payload that arrived, and the lab's statistics."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "iperf3.json"
        script = SCRIPT.format(seconds=seconds, streams=streams, result=result)
        done, stats = run_with_stats("--sites", "2", *options, script=script, timeout=seconds + 50)
        if done.returncode != 0:
            raise AssertionError(f"status {done.returncode}: {done.stderr}\n{done.stdout}")
        mbit = json.loads(result.read_text())["end"]["sum_received"]["bits_per_second"] / 1e6
    print(f"{' '.join(options)}: {mbit:.1f} Mbit/s, at most {stats['latest_ms']} ms late")
    return mbit, stats


class OneStream(unittest.TestCase):
    LINE = ("--rate", "200mbit", "--rtt", "60ms", "--mtu", "1500")

    def setUp(self):
        available = pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
        allowed = pathlib.Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
        self.usable = available if IS_ROOT else allowed

    def run_stream(self, congestion, *options, seconds=8):
        if congestion not in self.usable:
            self.skipTest(f"this host does not allow {congestion}")
        return stream(*self.LINE, "--congestion", congestion, *options, seconds=seconds)

    def test_cubic_without_loss_fills_the_line(self):
        mbit, stats = self.run_stream("cubic")
        self.assertTrue(175 <= mbit <= 196, mbit)
        self.assertEqual(stats["emulator_dropped_packets"], 0)
        self.assertLess(pair_of(stats, "b", "a")["wire_bytes"] * 8 / stats["elapsed_s"] / 1e6, 200)

    def test_bbr_without_loss_fills_the_line(self):
        mbit, _ = self.run_stream("bbr")
        self.assertTrue(175 <= mbit <= 196, mbit)

    def test_cubic_collapses_at_a_loss_of_one_in_a_thousand(self):
        mbit, _ = self.run_stream("cubic", "--loss", "0.1%", seconds=20)
        self.assertTrue(4 <= mbit <= 20, mbit)

    def test_bbr_does_not(self):
        mbit, _ = self.run_stream("bbr", "--loss", "0.1%")
        self.assertTrue(170 <= mbit <= 196, mbit)


class Capacity(unittest.TestCase):
    def test_500_mbit_at_mtu_1500(self):
        mbit, stats = stream("--rate", "1gbit", "--rtt", "10ms", "--mtu", "1500", streams=4)
        self.assertGreaterEqual(mbit, 500)
        self.assertEqual(stats["emulator_dropped_packets"], 0)

    def test_1000_mbit_at_mtu_9000(self):
        mbit, stats = stream("--rate", "2gbit", "--rtt", "10ms", "--mtu", "9000", streams=4)
        self.assertGreaterEqual(mbit, 1000)
        self.assertEqual(stats["emulator_dropped_packets"], 0)


if __name__ == "__main__":
    main("iperf3")
