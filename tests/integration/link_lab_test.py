"""Links in the lab that are cut: a short cut costs time and nothing else, a long one is an error on every rank."""

import json
import os
import random
import re
import sys
import time
import unittest

import rank_support  # first: it makes lab_support importable

# isort: split
import lab_support

BENCH = os.environ["BENCH_PROGRAM"]
SOAK = len(sys.argv) > 1 and sys.argv[1] == "soak"


def bench_lines(text):
    return [json.loads(line[line.index("{") :]) for line in text.splitlines() if '"case"' in line]


class LinkInTheLab(unittest.TestCase):
    def test_an_allreduce_survives_a_cut_of_five_seconds(self):
        script = f"echo started; exec {BENCH} allreduce --size 64MiB --iters 6 --warmup 0 --json"
        name = f"cut-{os.getpid()}"
        with lab_support.BackgroundLab(
            "--sites", "2", "--rate", "200mbit", "--rtt", "60ms", script=script, name=name, timeout=120
        ) as lab:
            lab.wait_for("started", 2)
            time.sleep(9)  # inside some iteration, on a slow machine of the first ones
            self.assertEqual(lab_support.ctl(name, "cut", "a", "b").returncode, 0)
            time.sleep(5)
            self.assertEqual(lab_support.ctl(name, "heal", "a", "b").returncode, 0)
            self.assertEqual(lab.process.wait(100), 0, lab.text())
            (result,) = bench_lines(lab.text())
        self.assertEqual(result["wrong"], 0)
        longest, usual = result["time_us_p99"] / 1e6, result["time_us_p50"] / 1e6
        print(f"longest allreduce {longest:.2f} s, median {usual:.2f} s: the cut of 5 s cost {longest - usual:.2f} s")
        self.assertGreater(longest, 5, "the cut missed the allreduce")

    def failures_of_a_cut(self, sites, pair, grace_ms, name):
        """Every rank's category and message, and how long after the cut it came."""
        script = f"export ISTHMUS_LINK_GRACE_MS={grace_ms}; exec {rank_support.PROGRAM} loop 99"
        with lab_support.BackgroundLab(
            "--sites",
            str(sites),
            "--rate",
            "100mbit",
            "--rtt",
            "40ms",
            "--grace",
            "40s",
            script=script,
            name=name,
            timeout=120,
        ) as lab:
            lab.wait_for("10 done", sites)
            self.assertEqual(lab_support.ctl(name, "cut", *pair).returncode, 0)
            cut_at = time.time()
            lab.process.wait(90)
            output = lab.text()
        found = re.findall(r"failed at ([\d.]+): (\w+): (.*)", output)
        self.assertEqual(len(found), sites, output)
        return [(float(when) - cut_at, category, message) for when, category, message in found]

    def test_a_cut_longer_than_link_grace_is_an_error_on_all_ranks(self):
        for after, category, message in self.failures_of_a_cut(2, ("a", "b"), 10_000, f"grace-{os.getpid()}"):
            print(f"{after:.1f} s after the cut: {message}")
            self.assertEqual(category, "unavailable")
            self.assertRegex(message, r"rank [01] \(site [ab]\)")
            self.assertLess(after, 15)

    def test_FT_03_half_open_between_two_of_three(self):
        for after, category, message in self.failures_of_a_cut(3, ("a", "b"), 6_000, f"ft03-{os.getpid()}"):
            print(f"{after:.1f} s after the cut: {message}")
            self.assertEqual(category, "unavailable")
            self.assertRegex(message, r"rank [01] \(site [ab]\)")
            self.assertLess(after, 11)


class Soak(unittest.TestCase):
    def test_two_hundred_cuts_change_nothing(self):
        draw = random.Random(4)
        script = f"exec {BENCH} allreduce --min 1KiB --max 16MiB --factor 4 --iters 400 --warmup 1 --check-all --json"
        name = f"soak-{os.getpid()}"
        with lab_support.BackgroundLab(
            "--sites", "2", "--rate", "200mbit", "--rtt", "60ms", script=script, name=name, timeout=1400
        ) as lab:
            time.sleep(3)
            for _ in range(200):
                time.sleep(draw.uniform(0.5, 3))
                lab_support.ctl(name, "cut", "a", "b")
                time.sleep(draw.uniform(0.1, 2))
                lab_support.ctl(name, "heal", "a", "b")
            self.assertEqual(lab.process.wait(900), 0, lab.text())
            results = bench_lines(lab.text())
        self.assertTrue(results)
        self.assertEqual(sum(result["wrong"] for result in results), 0)


if __name__ == "__main__":
    reason = lab_support.missing_precondition()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(lab_support.SKIPPED)
    unittest.main(argv=sys.argv[:1], defaultTest="Soak" if SOAK else "LinkInTheLab")
