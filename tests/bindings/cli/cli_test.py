"""The isthmus command: help, version, errors, and handing over to the lab."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["CLI_PROGRAM"]
LAB = os.environ["LAB_PROGRAM"]
VERSION = os.environ["ISTHMUS_TEST_VERSION"]
# isthmus refuses variables of its own that are no option.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("ISTHMUS_")}


def run(*words, program=PROGRAM):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=30, env=ENVIRONMENT)


class Command(unittest.TestCase):
    def test_version(self):
        done = run("--version")
        self.assertEqual((done.returncode, done.stdout), (0, f"isthmus {VERSION}\n"))

    def test_help(self):
        for word in ("help", "--help", "-h"):
            done = run(word)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"\n  lab +run ranks in sites")

    def test_usage_errors(self):
        self.assertEqual(run().returncode, 2)
        done = run("labb")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'labb' is not a command", done.stderr)

    def test_info_says_what_lanes_do_and_why(self):
        done = run("info")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n  congestion control: \w+ \(auto: ")
        self.assertRegex(done.stdout, r"\n  net.ipv4.tcp_slow_start_after_idle: [01] \(")

    def test_info_says_what_reduces_and_with_which_kernels(self):
        done = run("info")
        self.assertRegex(done.stdout, r"\n  sums of fp16 and bf16: (AVX|plain loops)")
        self.assertRegex(done.stdout, r"\n  complex64 +sum avg product premul_sum\n")
        self.assertRegex(done.stdout, r"\n  fp8_e5m2 +moved, not reduced\n")
        table = run("info", "--reductions=markdown").stdout
        self.assertIn("| int32 | yes | yes | yes | yes | yes | yes | yes | yes | no |\n", table)

    def test_info_says_what_was_found_and_taken(self):
        done = run("info")
        self.assertRegex(done.stdout, r"\n  taken: \w+ \(auto: ")
        if "\n  libfabric" in done.stdout:
            self.assertRegex(done.stdout, r"\n    taken: tcp \(")
        if "\n  ucx" in done.stdout:
            self.assertRegex(done.stdout, r"\n    127.0.0.1 of lo: TLS=tcp NET_DEVICES=lo \(auto: ")

    def test_the_lab_gets_its_arguments_and_gives_its_status(self):
        done = run("lab", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--ranks-per-site", done.stdout)
        done = run("lab", "--sites", "0", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--sites", done.stderr)

    def test_the_lab_is_found_from_another_folder_and_through_a_link(self):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder) / "isthmus"
            link.symlink_to(PROGRAM)
            self.assertEqual(run("lab", "--version", program=str(link)).returncode, 0)
            prefix = pathlib.Path(folder) / "prefix"
            for name, source in (("bin/isthmus", PROGRAM), ("libexec/isthmus-lab", LAB)):
                (prefix / name).parent.mkdir(parents=True)
                shutil.copy2(source, prefix / name)
            self.assertEqual(run("lab", "--version", program=str(prefix / "bin/isthmus")).returncode, 0)

    def test_a_plan_is_explained_and_can_be_forced(self):
        done = run("plan", "--sites", "4", "--rate", "100mbit", "--rtt", "60ms", "--op", "allreduce", "--size", "64MiB")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Plan: direct (the least time", done.stdout)
        self.assertIn("Bound: 8.053 s", done.stdout)
        forced = run("plan", "--sites", "4", "--size", "64MiB", "--algorithm", "ring", "--json")
        self.assertEqual(json.loads(forced.stdout)["algorithm"], "ring")
        wrong = run("plan", "--rate", "fast")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'fast' is not a rate", wrong.stderr)
        self.assertEqual(run("plan", "--op", "send").returncode, 2)

    def test_a_simulation_takes_a_file_of_sites(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "sites.toml"
            path.write_text('[[site]]\nrate = "25mbit"\n[[site]]\n[[site]]\n')
            done = run("simulate", str(path), "--size", "4MiB", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(done.stdout)
            self.assertEqual((result["sites"], result["algorithm"]), (3, "direct"))
            self.assertLess(result["bound_ms"], result["predicted_ms"])
            self.assertIn("predicted", run("simulate", str(path)).stdout)
            missing = run("simulate", str(path) + "x")
            self.assertEqual(missing.returncode, 2)
            self.assertIn("cannot read", missing.stderr)

    def test_a_secret_is_printed_or_written_for_its_owner_alone(self):
        done = run("secret", "new")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^isthmus_1_[0-9a-f]{64}_[0-9a-f]{8}\n$")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "secret"
            done = run("secret", "new", "--output", str(path))
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            self.assertRegex(path.read_text(), r"^isthmus_1_[0-9a-f]{64}_[0-9a-f]{8}\n$")
            done = run("secret", "new", "--output", str(path))
            self.assertEqual(done.returncode, 1, "a secret in use is not replaced")
            self.assertIn(str(path), done.stderr)
        for words in (("secret",), ("secret", "old"), ("secret", "new", "--output"), ("secret", "new", "x", "y")):
            self.assertEqual(run(*words).returncode, 2, words)

    def test_info_shows_that_there_is_a_secret_and_not_which(self):
        environment = {"PATH": os.environ["PATH"], "ISTHMUS_SECRET": "marker"}
        done = subprocess.run(
            [PROGRAM, "info", "--options"], capture_output=True, text=True, timeout=30, env=environment
        )
        self.assertIn("secret = (set)", done.stdout)
        self.assertNotIn("marker", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
