"""01_train_ddp over an emulated WAN of three sites: what the README shows."""

import re
import sys

import pytest
from examples_support import TRAIN_DDP, expect_equal_parameters
from lab_support import run_in_lab

SITES = ["--sites", "3", "--ranks-per-site", "2", "--rate", "100mbit", "--rtt", "60ms"]


@pytest.mark.parametrize("options", [[], ["--loss", "0.5%"]], ids=["no-loss", "loss"])
def test_all_ranks_end_with_the_parameters_of_one_process(options):
    done = run_in_lab([*SITES, *options], [sys.executable, str(TRAIN_DDP), "--steps", "10"])
    assert done.returncode == 0, done.stdout + done.stderr
    expect_equal_parameters(done.stdout, 6)


def test_survivors_of_a_killed_rank_name_it_within_five_seconds(tmp_path):
    command = [sys.executable, str(TRAIN_DDP), "--steps", "1000", "--die", "3:5", "--marker", str(tmp_path / "marker")]
    done = run_in_lab(SITES, command)
    text = done.stdout + done.stderr
    assert done.returncode == 128 + 9, text
    for rank in (0, 1, 2, 4, 5):
        line = re.search(rf"rank {rank}: failed .*", text)
        assert line and re.search(r"rank 3 \(site b", line[0]), text
        assert float(re.search(r"(\S+) s after the marker", line[0])[1]) < 5, line[0]
