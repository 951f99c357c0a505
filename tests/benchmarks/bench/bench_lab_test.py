"""isthmus bench over a shaped line: are its bandwidths those of the line (BM-02)?"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lab"))
import lab_support

PROGRAM = os.environ["CLI_PROGRAM"]


def measure(lab_options, words, variables=""):
    """The JSON objects of a run in the lab, and its statistics."""
    script = f"{variables} exec {PROGRAM} bench {words} --json"
    done, stats = lab_support.run_with_stats("--quiet", *lab_options.split(), script=script, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return [json.loads(line.split("] ", 1)[1]) for line in done.stdout.splitlines()], stats


class BenchOnALine(unittest.TestCase):
    def test_BM_02_bandwidth_is_that_of_the_line(self):
        (row,), _ = measure(
            "--rate 20mbit --rtt 4ms", "stream --size 256KiB --together 4 --iters 10 --warmup 2 --line-rate 20mbit"
        )
        self.assertEqual((row["ranks"], row["sites"], row["wrong"]), (2, 2, 0))
        self.assertEqual(row["hosts"], ["a", "b"])
        self.assertAlmostEqual(row["line_fill"], row["busbw_bytes_per_sec"] * 8 / 20e6, delta=0.001)
        print(f"bandwidth / line rate: {row['line_fill']:.3f}, {row['lanes']} lanes of {row['congestion']}")
        self.assertGreater(row["line_fill"], 0.6)  # about 0.93 where nothing else runs
        self.assertLess(row["line_fill"], 1.0)

    def test_BM_02_bus_bandwidth_times_time_is_what_crosses_a_line(self):
        """Over three sites a line carries 4/3 of the size in an iteration; the emulator has counted it."""
        iterations = 2 + 4 + 1  # the last one is for the check
        (row,), stats = measure(
            "--sites 3 --rate 100mbit --rtt 4ms", "allreduce --size 3MiB --iters 4 --warmup 2 --line-rate 100mbit"
        )
        self.assertEqual((row["ranks"], row["sites"], row["wrong"]), (3, 3, 0))
        per_iteration = row["busbw_bytes_per_sec"] * row["time_us_p50"] * 1e-6
        self.assertAlmostEqual(per_iteration, 4 / 3 * row["size_bytes"], delta=0.01 * row["size_bytes"])
        for site in stats["sites"]:
            self.assertAlmostEqual(site["up_bytes"] / iterations / per_iteration, 1, delta=0.15)

    def test_the_line_of_a_site_of_several_ranks(self):
        (row,), stats = measure(
            "--sites 2 --ranks-per-site 2 --rate 40mbit --rtt 10ms",
            "allreduce --size 2MiB --iters 6 --warmup 2 --line-rate 40mbit",
        )
        self.assertEqual((row["ranks"], row["sites"], row["wrong"]), (4, 2, 0))
        self.assertAlmostEqual(row["busbw_bytes_per_sec"], 1.5 * row["algbw_bytes_per_sec"], delta=2)
        self.assertAlmostEqual(row["line_fill"], row["algbw_bytes_per_sec"] * 8 / 40e6, delta=0.001)
        least = 6 * 2 * row["size_bytes"]  # each of the timed calls takes the buffer across, once each way
        self.assertGreaterEqual(row["wan_sent_bytes"], least)
        self.assertLess(row["wan_sent_bytes"], 1.1 * least)
        self.assertGreater(sum(site["up_bytes"] for site in stats["sites"]), row["wan_sent_bytes"])

    def test_congestion_control_is_read_back(self):
        (row,), _ = measure(
            "--rate 100mbit --rtt 2ms --congestion reno",
            "pingpong --size 64KiB --iters 5",
            variables="ISTHMUS_WAN_CONGESTION=system",
        )
        self.assertEqual(row["congestion"], "reno")
        self.assertGreater(row["time_us_min"], 2000)


if __name__ == "__main__":
    lab_support.main()
