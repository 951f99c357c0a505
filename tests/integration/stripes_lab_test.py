"""WA-02: several lanes on a line that loses packets, and one lane that is slower than the others."""

import json
import os
import sys
import time
import unittest

import rank_support  # noqa: F401  first: it makes lab_support importable

# isort: split
import lab_support

BENCH = os.environ["BENCH_PROGRAM"]
LINE = ("--sites", "2", "--rate", "100mbit", "--rtt", "100ms", "--loss", "0.1%", "--congestion", "cubic")


class Stripes(unittest.TestCase):
    def throughput(self, lanes, cap_one=False):
        """Bytes a second of a stream of 4 MB messages, checked, in the median."""
        name = f"stripes-{lanes}-{os.getpid()}"
        script = f"export ISTHMUS_WAN_LANES={lanes} ISTHMUS_WAN_CONGESTION=cubic; echo started; "
        script += f"exec {BENCH} stream --size 4MB --iters {5 if lanes == 1 else 30} --warmup 2 --check-all --json"
        with lab_support.BackgroundLab(*LINE, script=script, name=name, timeout=280) as lab:
            lab.wait_for("started", 2)
            if cap_one:
                self.cap_busiest_flow(name)
            self.assertEqual(lab.process.wait(270), 0, lab.text())
            lines = [line for line in lab.text().splitlines() if '"case"' in line]
        result = json.loads(lines[0][lines[0].index("{") :])
        self.assertEqual(result["wrong"], 0)
        return result["algbw_bytes_per_sec"]

    def cap_busiest_flow(self, name):
        time.sleep(4)
        flows = json.loads(lab_support.ctl(name, "flows", "--json").stdout)
        bytes_of = [flow["sent_bytes"] + flow["answered_bytes"] for flow in flows]
        busiest = bytes_of.index(max(bytes_of))
        self.assertGreater(bytes_of[busiest], 100_000, flows)
        share = f"{100 / 8 / 10:.3f}mbit"  # a tenth of an eighth of the line
        self.assertEqual(lab_support.ctl(name, "flow-cap", str(busiest), share).returncode, 0)

    def test_WA_02_more_lanes_carry_more_and_a_slow_one_holds_up_little(self):
        one, eight, capped = self.throughput(1), self.throughput(8), self.throughput(8, cap_one=True)
        print(
            f"1 lane {one / 1e6:.2f} MB/s, 8 lanes {eight / 1e6:.2f} MB/s, one of 8 at a tenth {capped / 1e6:.2f} MB/s"
        )
        self.assertGreater(eight, 1.5 * one)
        self.assertGreater(capped, eight / 4)


if __name__ == "__main__":
    reason = lab_support.missing_precondition()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(lab_support.SKIPPED)
    unittest.main()
