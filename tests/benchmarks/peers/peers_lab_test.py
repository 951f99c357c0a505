"""One small setting of the comparison, with those peers that are installed: each has a right, plausible result."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lab"))
import lab_support

RUN = pathlib.Path(__file__).resolve().parents[3] / "benchmarks" / "peers" / "run"


class Peers(unittest.TestCase):
    def test_a_small_setting(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, RUN, "--isthmus", os.environ["CLI_PROGRAM"], "--setting", "tiny", "--limit", "60",
                 "--out", folder, "--peer", "isthmus-libfabric", "--peer", "gloo", "--peer", "openmpi"],
                capture_output=True, text=True, timeout=240,
            )  # fmt: skip
            print(done.stdout)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows = json.loads((pathlib.Path(folder) / "peers.json").read_text())
            self.assertIn("isthmus-libfabric", (pathlib.Path(folder) / "peers.txt").read_text())
        self.assertEqual([row["peer"] for row in rows], ["isthmus-libfabric", "gloo", "openmpi"])
        self.assertEqual(rows[0]["note"], "")
        for row in rows:
            if row["note"] == "not installed":
                continue
            with self.subTest(row["peer"]):
                self.assertEqual((row["wrong"], row["congestion"]), (0, "reno"))
                self.assertGreater(row["value"], 0.01)
                self.assertLess(row["value"], 1)


if __name__ == "__main__":
    lab_support.main()
