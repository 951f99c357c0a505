"""The emulated WAN is what it claims to be: round-trip times, bytes, cuts, changes while it runs."""

import json
import re
import subprocess
import sys
import unittest

from lab_support import LAB, BackgroundLab, ctl, main, pair_of, run_script, run_with_stats, wait_until

PING = "[ $RANK = 0 ] && ping -n -c {count} -i 0.1 -w 20 {address}; exit 0"

# Rank 0 sends datagrams of which rank 1 counts those that arrive.
DATAGRAMS = """
import os, socket, time
family = socket.AF_INET6 if os.environ.get("TEST_IPV6") else socket.AF_INET
address = "fd77:0:0:1::1" if os.environ.get("TEST_IPV6") else "10.77.1.1"
sock = socket.socket(family, socket.SOCK_DGRAM)
if os.environ["RANK"] == "0":
    time.sleep(1)
    for _ in range(200):
        sock.sendto(bytes(1000), (address, 5000))
        time.sleep(0.002)
else:
    sock.bind((address, 5000))
    sock.settimeout(4)
    count = 0
    try:
        while count < 200:
            count += sock.recv(2000) == bytes(1000)
    except TimeoutError:
        pass
    print("got", count)
"""


def round_trips_ms(text):
    return sorted(float(value) for value in re.findall(r"time=([\d.]+) ms", text))


class RoundTrip(unittest.TestCase):
    def check(self, rtt_ms, address="10.77.1.1", sites=2):
        done = run_script("--sites", str(sites), "--rtt", f"{rtt_ms}ms", script=PING.format(count=15, address=address))
        times = round_trips_ms(done.stdout)
        self.assertGreaterEqual(len(times), 12, done.stdout + done.stderr)
        median = times[len(times) // 2]
        print(f"rtt {rtt_ms} ms: min {times[0]}, median {median}, max {times[-1]}")
        self.assertGreaterEqual(times[0], rtt_ms)
        self.assertLessEqual(median, rtt_ms + 1 + 0.02 * rtt_ms)

    def test_ping_is_within_1_ms_and_2_percent(self):
        for rtt_ms in (1, 20, 60, 300):
            self.check(rtt_ms)

    def test_ipv6(self):
        self.check(20, "fd77:0:0:1::1")

    def test_many_sites(self):
        self.check(20, sites=16)

    def test_jitter_lengthens(self):
        done = run_script("--rtt", "20ms", "--jitter", "10ms", script=PING.format(count=40, address="10.77.1.1"))
        times = round_trips_ms(done.stdout)
        self.assertGreaterEqual(times[0], 20)
        self.assertGreater(times[-1], 26)
        self.assertLess(times[len(times) // 2], 42)

    def test_a_slow_line_takes_its_time(self):
        # 8 ms each way for 1000 bytes at 1 Mbit/s, on the up line and again on the down line.
        done = run_script(
            "--rtt",
            "20ms",
            "--rate",
            "1mbit",
            script="[ $RANK = 0 ] && ping -n -s 972 -c 9 -i 0.2 -w 20 10.77.1.1; exit 0",
        )
        median = round_trips_ms(done.stdout)[4]
        self.assertGreaterEqual(median, 52)
        self.assertLessEqual(median, 54)


class Bytes(unittest.TestCase):
    def check(self, environment, header_bytes):
        done, stats = run_with_stats("--rtt", "20ms", script=f"{environment} exec {sys.executable} -c '{DATAGRAMS}'")
        self.assertIn("got 200", done.stdout, done.stderr)
        pair = pair_of(stats, "a", "b")
        self.assertEqual(pair["wire_packets"], 200)
        self.assertEqual(pair["wire_bytes"], 200 * (1000 + header_bytes))
        self.assertEqual(pair["delivered_bytes"], pair["wire_bytes"])
        self.assertEqual(stats["sites"][0]["up_bytes"], pair["wire_bytes"])
        self.assertEqual(stats["sites"][1]["down_bytes"], pair["wire_bytes"])
        self.assertEqual(stats["emulator_dropped_packets"], 0)

    def test_every_byte_is_counted(self):
        self.check("", 28)

    def test_of_ipv6_too(self):
        self.check("TEST_IPV6=1", 48)

    def test_loss_is_counted(self):
        done, stats = run_with_stats("--rtt", "20ms", "--loss", "20%", script=f"exec {sys.executable} -c '{DATAGRAMS}'")
        pair = pair_of(stats, "a", "b")
        self.assertEqual(pair["wire_packets"], 200)
        self.assertEqual(pair["lost_packets"] + pair["delivered_packets"], 200)
        self.assertTrue(15 <= pair["lost_packets"] <= 70, pair)
        self.assertIn(f"got {pair['delivered_packets']}", done.stdout)


class Control(unittest.TestCase):
    SCRIPT = "[ $RANK = 0 ] && { echo ready; ping -n -i 0.1 10.77.1.1; }; sleep 60"

    def last_round_trip(self, lab):
        return float(re.findall(r"time=([\d.]+) ms", lab.text())[-1])

    def replies(self, lab):
        return lab.text().count("time=")

    def changes(self, lab, *words):
        done = ctl(lab.name, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_cut_heal_and_delay(self):
        with BackgroundLab("--sites", "3", "--rtt", "20ms", script=self.SCRIPT, name="test-ctl") as lab:
            lab.wait_for("time=", 3)
            for cut, heal in ((("cut", "a", "b"), ("heal", "a", "b")), (("cut", "b"), ("heal",))):
                self.assertIn("a - b: delay 10ms one way, jitter 0ms, loss 0%, cut", self.changes(lab, *cut))
                before = self.replies(lab)
                goal = self.cut_packets(lab) + 5
                wait_until(lambda goal=goal: self.cut_packets(lab) >= goal, 20, "packets that the cut took")
                self.assertLessEqual(self.replies(lab), before + 1)
                self.assertNotIn("cut", self.changes(lab, *heal))
                lab.wait_for("time=", before + 4)
            self.changes(lab, "delay", "a", "b", "100ms")
            wait_until(lambda: 200 <= self.last_round_trip(lab) <= 206, 20, "the longer round trip")
            self.changes(lab, "rate", "all", "5mbit")
            self.changes(lab, "loss", "a", "b", "100%")
            self.assertIn("site a: up 5mbit, down 5mbit", self.changes(lab, "show"))
            done = ctl(lab.name, "rate", "nowhere", "5mbit")
            self.assertEqual(done.returncode, 1)
            self.assertIn("'nowhere' is not a site; sites: all, a, b, c", done.stderr)

    def cut_packets(self, lab):
        stats = json.loads(self.changes(lab, "stats", "--json"))
        return pair_of(stats, "a", "b")["cut_packets"]

    def test_several_labs_are_told_apart(self):
        with BackgroundLab("--sites", "1", script="echo ready; sleep 60", name="test-one") as one:
            one.wait_for("ready")
            with BackgroundLab("--sites", "1", script="echo ready; sleep 60", name="test-two") as two:
                two.wait_for("ready")
                listed = subprocess.run([LAB, "ctl", "list"], capture_output=True, text=True, timeout=20).stdout
                self.assertLessEqual({"test-one", "test-two"}, set(listed.split()))
                done = subprocess.run([LAB, "ctl", "show"], capture_output=True, text=True, timeout=20)
                self.assertEqual(done.returncode, 1)
                self.assertIn("choose with --name", done.stderr)
                self.assertEqual(ctl("test-two", "show").returncode, 0)
        self.assertIn("no lab named 'test-two' is running", ctl("test-two", "show").stderr)


if __name__ == "__main__":
    main("ping")
