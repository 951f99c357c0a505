"""Sites behind packet filters and NAT: what the options are for, and what a job says without them."""

import pathlib
import sys
import tempfile
import unittest

import rank_support  # first: it makes lab_support importable

# isort: split
import lab_support

PORTS = "40000-40050"
FILTERED = f"""
[[site]]
name = "a"
inbound_ports = "{PORTS}"
[[site]]
name = "b"
inbound_ports = "{PORTS}"
"""
BEHIND_NAT = f"""
[[site]]
name = "a"
[[site]]
name = "b"
nat = true
nat_forward = ["{PORTS}"]
"""


class Borders(unittest.TestCase):
    def run_job(self, topology, environment, site_b=""):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lab.toml"
            path.write_text(topology)
            words = " ".join(f"{name}={value}" for name, value in environment.items())
            script = f"[ $ISTHMUS_SITE = b ] && export {site_b or 'NOTHING=1'}; export {words}; "
            script += f"exec {rank_support.PROGRAM} allreduce 100000"
            return lab_support.run_script(
                "--topology",
                str(path),
                "--rate",
                "100mbit",
                "--rtt",
                "20ms",
                "--master-port",
                "40050",
                script=script,
                timeout=75,
            )

    def test_NW_10_all_listeners_lie_in_the_range(self):
        done = self.run_job(FILTERED, {"ISTHMUS_PORT_RANGE": "40000-40049"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_NW_10_a_range_that_is_too_small_says_what_is_needed(self):
        done = self.run_job(FILTERED, {"ISTHMUS_PORT_RANGE": "40000-40000", "ISTHMUS_CONNECT_TIMEOUT_MS": "15000"})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("40000-40000", done.stdout)
        self.assertIn("2 ports", done.stdout)

    def test_NW_10_a_blocked_port_is_named_within_the_timeout(self):
        done = self.run_job(FILTERED, {"ISTHMUS_CONNECT_TIMEOUT_MS": "8000"})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"10\.77\.[01]\.1:\d+")

    def test_NW_11_an_advertised_address_leads_through_a_nat(self):
        done = self.run_job(
            BEHIND_NAT, {"ISTHMUS_PORT_RANGE": "40000-40049"}, site_b="ISTHMUS_ADVERTISE_ADDRESS=10.78.1.1"
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_NW_11_without_it_the_private_address_is_shown(self):
        # Of two processes the one with the smaller id dials. That is chance, and where it is the one behind the NAT,
        # the job works.
        for _ in range(10):
            done = self.run_job(BEHIND_NAT, {"ISTHMUS_PORT_RANGE": "40000-40049", "ISTHMUS_CONNECT_TIMEOUT_MS": "8000"})
            if done.returncode != 0:
                break
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"10\.77\.1\.1:400\d\d")


if __name__ == "__main__":
    reason = lab_support.missing_precondition()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(lab_support.SKIPPED)
    unittest.main()
