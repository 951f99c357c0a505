"""SE-03 and FT: jobs of processes on this host with wrong, missing and unusable secrets, and with a frozen rank."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import rank_support

TIMEOUTS = {"ISTHMUS_CONNECT_TIMEOUT_MS": "3000", "ISTHMUS_LOG_LEVEL": "warning"}


class Security(unittest.TestCase):
    def run_ranks(self, environments, sites="abc", words=("allreduce", "1000")):
        """Ranks with an environment each; their exit codes and outputs, and the seconds that each took."""
        start = time.monotonic()
        processes = rank_support.start_ranks(words, list(sites[: len(environments)]), TIMEOUTS, environments)
        results = []
        try:
            for process in processes:
                output, _ = process.communicate(timeout=60)
                results.append((process.returncode, output, time.monotonic() - start))
        finally:
            rank_support.stop(processes)
        for _, output, _ in results:
            self.assertNotIn(rank_support.SECRET.split("_")[2], output)
        return results

    def test_SE_03_a_wrong_secret_is_told_on_both_sides(self):
        wrong = {"ISTHMUS_SECRET": new_secret()}
        results = self.run_ranks([{}, wrong, {}])
        code, output, _ = results[1]
        self.assertEqual(code, 1)
        self.assertIn("authentication failed", output)
        self.assertIn("different job secrets", output)
        self.assertIn("authentication failed", results[0][1], "the side with the right one says so, too")
        for code, output, _ in (results[0], results[2]):
            self.assertEqual(code, 1)
            self.assertRegex(output, r"rank 1\b")

    def test_SE_03_a_missing_secret_is_told_on_both_sides(self):
        results = self.run_ranks([{}, {"ISTHMUS_SECURITY": "off"}])
        self.assertIn("authentication failed: the peer has a job secret, this process uses none", results[1][1])
        self.assertIn("authentication failed: this process has a job secret, the peer uses none", results[0][1])
        results = self.run_ranks([{"ISTHMUS_SECURITY": "off"}, {}])
        self.assertIn("authentication failed: this process has a job secret, the peer uses none", results[1][1])

    def test_SE_03_several_sites_without_a_secret_are_refused_with_both_ways_out(self):
        for code, output, seconds in self.run_ranks([{"ISTHMUS_SECRET": ""}] * 3):
            self.assertEqual(code, 1)
            self.assertIn("isthmus secret new", output)
            self.assertIn("ISTHMUS_SECURITY=off", output)
            self.assertLess(seconds, 20)

    def test_one_site_needs_none_and_off_is_off(self):
        for code, output, _ in self.run_ranks([{"ISTHMUS_SECRET": ""}] * 2, sites="aa"):
            self.assertEqual(code, 0, output)
        for code, output, _ in self.run_ranks([{"ISTHMUS_SECURITY": "off"}] * 2):
            self.assertEqual(code, 0, output)

    def test_ciphers_and_security_on(self):
        for environments in (
            [{"ISTHMUS_CIPHER": "chacha20-poly1305"}] * 2,
            [{"ISTHMUS_CIPHER": "chacha20-poly1305"}, {"ISTHMUS_CIPHER": "aes-256-gcm"}],
            [{"ISTHMUS_SECURITY": "on"}] * 2,
        ):
            for code, output, _ in self.run_ranks(environments):
                self.assertEqual(code, 0, output)

    def test_SE_03_a_secret_file_is_for_its_owner(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "secret"
            path.write_text(rank_support.SECRET + "\n")
            by_file = {"ISTHMUS_SECRET": "", "ISTHMUS_SECRET_FILE": str(path)}
            path.chmod(0o640)
            for code, output, _ in self.run_ranks([by_file] * 2):
                self.assertEqual(code, 1)
                self.assertIn("0640", output)
                self.assertIn(str(path), output)
            path.chmod(0o600)
            for code, output, _ in self.run_ranks([by_file] * 2):
                self.assertEqual(code, 0, output)


class Frozen(unittest.TestCase):
    """A process that is stopped keeps its connections, and its kernel answers for it."""

    def start(self, grace_ms):
        environment = {"ISTHMUS_LINK_GRACE_MS": str(grace_ms), "ISTHMUS_LOG_LEVEL": "info"}
        processes = rank_support.start_ranks(["loop", "-1"], ["a", "b", "c"], environment)
        self.addCleanup(rank_support.stop, processes)
        time.sleep(4)  # they form, and are in the loop
        for process in processes:
            self.assertIsNone(process.poll())
        return processes

    def test_FT_a_frozen_rank_is_suspect_then_dead_on_every_other(self):
        processes = self.start(7000)
        processes[1].send_signal(signal.SIGSTOP)
        frozen = time.time()
        for rank in (0, 2):
            output, _ = processes[rank].communicate(timeout=30)
            self.assertIn("nothing heard from rank 1 (site b)", output)
            failed = re.search(r"failed at ([0-9.]+): unavailable: (.*)", output)
            self.assertIsNotNone(failed, output)
            self.assertIn("rank 1 (site b)", failed.group(2))
            self.assertGreater(float(failed.group(1)), frozen + 5.5, "not before link_grace")
            self.assertLess(float(failed.group(1)), frozen + 7 + 5)

    def test_FT_a_rank_that_thaws_in_time_goes_on(self):
        processes = self.start(20000)
        for _ in range(2):
            processes[1].send_signal(signal.SIGSTOP)
            time.sleep(3)
            processes[1].send_signal(signal.SIGCONT)
            time.sleep(2)
        for process in processes:
            self.assertIsNone(process.poll(), "no error")


def new_secret():
    done = subprocess.run([os.environ["CLI_PROGRAM"], "secret", "new"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    unittest.main()
