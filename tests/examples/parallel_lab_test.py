"""The examples of parallel training, over an emulated WAN, as their first lines say."""

import sys

import pytest
from examples_support import EXAMPLES
from lab_support import run_in_lab

WAN = ["--rate", "100mbit", "--rtt", "60ms"]
SQUARE = ["--sites", "2", "--ranks-per-site", "2", *WAN]
PAIR = ["--sites", "2", "--ranks-per-site", "1", *WAN]
CASES = [
    ("02_ddp_features/ddp_features.py", SQUARE),
    ("03_fsdp2/fsdp2.py", SQUARE),
    ("04_hsdp/hsdp.py", SQUARE),
    ("05_tensor_parallel/tensor_parallel.py", SQUARE),
    ("06_pipeline/pipeline.py", PAIR),
    ("07_zero_optimizer/zero_optimizer.py", SQUARE),
]


def assert_good(done):
    text = done.stdout + done.stderr
    assert done.returncode == 0 and "DIFFERS" not in text, text
    return text


@pytest.mark.parametrize(("script", "options"), CASES, ids=[script.split("/")[0] for script, _ in CASES])
def test_equals_one_process(script, options):
    assert "equals one process's" in assert_good(run_in_lab(options, [sys.executable, str(EXAMPLES / script)]))


def test_checkpoint_on_another_number_of_ranks(tmp_path):
    program = [sys.executable, str(EXAMPLES / "08_checkpoint/checkpoint.py")]
    folder = str(tmp_path / "checkpoint")
    assert_good(run_in_lab(SQUARE, [*program, "save", folder]))
    assert "trained on: equals" in assert_good(run_in_lab(PAIR, [*program, "load", folder, "--batches", "4"]))
