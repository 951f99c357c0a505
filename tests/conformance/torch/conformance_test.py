"""torch's own distributed_test.py: the part of it that touches every family, against the committed list."""

import pathlib
import subprocess
import sys

import outcomes
import pytest
import runner

FOLDER = pathlib.Path(__file__).resolve().parent


def test_nothing_that_passed_is_lost(tmp_path):
    command = [sys.executable, str(FOLDER / "run"), "--log", str(tmp_path / "log")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr


def test_the_part_passes_in_the_list():
    """The part is made of passes: a test that is skipped would guard nothing."""
    listed = outcomes.read_list(runner.list_path("isthmus"))
    for setting, tests in runner.part().items():
        for test in tests:
            assert listed[test][setting][0] == "pass", f"{test} with {setting}: {listed[test][setting]}"


@pytest.mark.parametrize("setting", runner.SETTINGS)
def test_what_gloo_passes_passes_here(setting):
    """Of the lists: what is not so must be explained in EXPLAINED."""
    ours, gloo = (outcomes.read_list(runner.list_path(backend)) for backend in ("isthmus", "gloo"))
    missing = [
        f"{test}: {ours.get(test, {}).get(setting)}"
        for test, by_setting in gloo.items()
        if by_setting.get(setting, ("-",))[0] == "pass" and ours.get(test, {}).get(setting, ("-",))[0] != "pass"
        and test not in explained()
    ]  # fmt: skip
    assert not missing, "\n".join(missing)


def explained() -> set[str]:
    lines = (FOLDER / "explained.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def test_lists_are_read_as_they_were_written(tmp_path):
    found = {"test_a": {"2:plain": ("pass", "")}, "test_b": {"2:plain": ("skip", "no GPU"), "3:plain": ("fail", "x")}}
    path = tmp_path / "list"
    path.write_text(outcomes.format_list(found, ["2:plain", "3:plain"], "title"))
    again = outcomes.read_list(path)
    assert again["test_a"] == {"2:plain": ("pass", "")} and again["test_b"]["3:plain"][0] == "fail"
    assert outcomes.lost_passes(again, {"test_a": {"2:plain": ("fail", "why")}}) != []
    assert outcomes.lost_passes(again, {"test_b": {"2:plain": ("fail", "why")}}) == []
