"""The figures of the demo follow from what was measured."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "demo"))

import plot  # noqa: E402
import report  # noqa: E402
import wire  # noqa: E402
from lab import Run, Wan  # noqa: E402
from results import Measured, allreduce_bound_bytes, largest_loss_difference  # noqa: E402

WAN = Wan(3, 2, "50mbit", "60ms")


def measured(name: str, seconds: float, steps: int = 10, flat: bool = False, sent: int = 0) -> Measured:
    durations = [9.0, *([seconds] * (steps - 1))]
    data = {
        "losses": [5.0 - 0.1 * step for step in range(steps)],
        "step_seconds": durations,
        "ends_seconds": [sum(durations[: step + 1]) for step in range(steps)],
        "steps": steps, "steps_asked": 10, "first_measured_step": 1, "counted_steps": 4, "budget_seconds": 60.0,
        "sent_bytes_of_sites": [sent, sent, sent], "gradient_bytes": 3_000_000, "parameter_count": 750_000,
        "held_out_loss": 4.2, "wall_seconds": 100.0, "model": "a model", "torch": "2.13.0", "corpus_bytes": 1000,
        "corpus_digest": "0123456789ab", "batch_per_rank": 3, "window_bytes": 128,
        "lab": {"congestion_control": "bbr", "latest_ms": 0.4, "emulator_dropped_packets": 0,
                "sites": [{"up_bytes": 2_000_000}] * 3},
    }  # fmt: skip
    return Measured(Run(name, f"title of {name}", "gloo" if name == "gloo" else "isthmus", flat), data)


@pytest.fixture
def runs():
    return [
        measured("isthmus", 1.0, sent=17_600_000),
        measured("no-wan", 0.8, flat=True),
        measured("gloo", 2.0, steps=6, sent=40_000_000),
    ]


def cells(runs, title):
    return next(row[1:] for row in report.rows(WAN, runs) if row[0] == title)


def test_efficiency_is_the_ratio_of_median_step_times(runs):
    assert cells(runs, "efficiency against no WAN") == ["80.0%", "100 %", "40.0%"]


def test_warm_up_steps_are_not_measured(runs):
    assert runs[0].median_step_seconds == 1.0
    assert runs[0].step_percentile_seconds(90) == 1.0


def test_wan_bytes_are_per_counted_step_and_site(runs):
    assert cells(runs, "WAN bytes sent per step and site") == ["4.400 MB", "none", "10.000 MB"]
    assert allreduce_bound_bytes(runs[0], 3) == 4_000_000


def test_fewer_steps_are_said_plainly(runs):
    text = report.as_text(WAN, runs)
    assert "title of gloo made 6 of 10 steps" in text
    assert "title of isthmus made" not in text
    assert "training loss at step 6" in text


def test_the_lab_is_described_in_words_and_counts(runs):
    text = report.as_text(WAN, runs)
    assert "3 sites x 2 ranks, 50 Mbit/s per site each way, 60 ms round trip" in text
    assert "TCP with bbr" in text and "carried 6.0 MB, was at most 0.4 ms late" in text


def test_losses_are_compared_over_common_steps(runs):
    runs[2].losses[3] += 0.25
    difference, count = largest_loss_difference(runs[0], runs[2])
    assert (round(difference, 9), count) == (0.25, 6)


def test_without_the_flat_run_there_is_no_efficiency(runs):
    assert cells([runs[0]], "efficiency against no WAN") == ["not run"]


def test_the_report_is_one_file_with_the_picture_in_it(runs, tmp_path):
    plot.write(tmp_path / "curves.png", WAN, runs)
    report.write_html(tmp_path / "report.html", WAN, runs, tmp_path / "curves.png")
    page = (tmp_path / "report.html").read_text()
    assert "data:image/png;base64,iVBOR" in page
    assert "title of gloo made 6 of 10 steps" in page
    assert page.count("<tr>") == len(report.rows(WAN, runs))


def test_loopback_is_not_on_the_wire():
    head = "Inter-|   Receive  |  Transmit\n face |bytes packets ...\n"
    lines = "    lo: 1 1 0 0 0 0 0 0 7777 1 0 0 0 0 0 0\n  wan0: 1 1 0 0 0 0 0 0 250 1 0 0 0 0 0 0\n"
    assert wire.sent_bytes(head + lines) == 250
