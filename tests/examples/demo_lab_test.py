"""The demo from end to end, in a few steps."""

import json
import subprocess
import sys

from examples_support import EXAMPLES, KEPT
from lab_support import PROGRAM, require_lab


def run_demo(out, *arguments):
    command = [sys.executable, str(EXAMPLES / "demo" / "run.py"), "--out", str(out), "--isthmus", PROGRAM]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=350, env=KEPT)


def test_three_runs_a_table_a_picture_and_a_report(tmp_path):
    require_lab()
    done = run_demo(tmp_path, "--steps", "10", "--budget-seconds", "40", "--batch-per-rank", "1", "--rate", "200mbit",
                    "--rtt", "10ms")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Isthmus over the WAN" in done.stdout and "efficiency against no WAN" in done.stdout
    measured = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in ("isthmus", "no-wan", "gloo")}
    for name, data in measured.items():
        assert len(data["losses"]) == data["steps"] == len(data["step_seconds"]), name
        sites = data["sent_bytes_of_sites"]
        if name == "no-wan":
            assert len(sites) == 1 and sites[0] < 10_000, sites
        else:
            # Each site sends at least 2 (S - 1) / S of the gradients.
            least = 4 / 3 * data["gradient_bytes"] * data["counted_steps"]
            assert len(sites) == 3 and sum(sites) / 3 > 0.99 * least, (name, sites, least)
    assert abs(measured["isthmus"]["losses"][-1] - measured["no-wan"]["losses"][-1]) < 0.05
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.html").read_text()
    assert "data:image/png;base64," in page and "What was run" in page


def test_a_run_that_fails_fails_the_demo_with_its_output(tmp_path):
    require_lab()
    done = run_demo(tmp_path, "--steps", "10", "--batch-per-rank", "0", "--only", "gloo")
    assert done.returncode == 1
    assert "error: Gloo over the WAN: the lab ended with status" in done.stderr
    assert "Traceback" in done.stdout and "Traceback" in (tmp_path / "gloo.log").read_text()
    assert not (tmp_path / "report.html").exists()
