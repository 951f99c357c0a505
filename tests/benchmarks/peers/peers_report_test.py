"""The arithmetic and the table of the comparison with peers."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

PEERS = pathlib.Path(__file__).resolve().parents[3] / "benchmarks" / "peers"
sys.path.insert(0, str(PEERS))

import measure  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import settings  # noqa: E402


def row(setting, peer, p50_us, **values):
    value = settings.find(setting).value(p50_us)
    return measure.Row(setting, peer, p50_us, value, congestion="bbr", wrong=0, **values)


def test_names_are_unique():
    names = [setting.name for setting in settings.SETTINGS]
    assert len(set(names)) == len(names)
    assert all(settings.find(name).name == name for name in [*names, "tiny"])
    assert settings.find("nothing") is None


def test_fill_is_bus_bandwidth_over_the_rate():
    two = settings.find("2sites-bbr")
    assert two.value(64 * 2**20 * 8 / 200e6 * 1e6) == pytest.approx(1)
    four = settings.find("4sites-bbr")  # 2(S-1)/S = 1.5
    assert four.value(1.5 * 16 * 2**20 * 8 / 100e6 * 1e6) == pytest.approx(1)


def test_trips():
    assert settings.find("together-100").value(120_000) == pytest.approx(2)
    assert settings.find("small-2sites").value(33_000) == pytest.approx(1.1)


def test_medians_of_peers_are_nearest_ranks():
    result = {"version": "x", "times_us": [5.0, 1.0, 3.0, 9.0], "wrong": 0, "congestion": "bbr"}
    assert peers.Gloo.read(result)["p50_us"] == 3.0


def test_table_has_ratios_and_reasons():
    rows = [
        row("2sites-bbr", "isthmus-libfabric", 3e6),
        row("2sites-bbr", "gloo", 6e6, note="congestion control is cubic"),
        measure.Row("2sites-bbr", "pccl-1", note="not installed"),
    ]
    lines = report.table(rows).splitlines()
    assert " 1.00 " in lines[1]
    assert " 2.00 " in lines[2] and lines[2].endswith("congestion control is cubic")
    assert lines[3].endswith("not installed") and " - " in lines[3]


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_plot(tmp_path):
    assert report.plot([row("2sites-bbr", "gloo", 6e6), row("4sites-bbr", "gloo", 6e6)], tmp_path)
    assert (tmp_path / "peers.png").stat().st_size > 1000
    assert "<svg" in (tmp_path / "peers.svg").read_text()
    assert not report.plot([row("together-100", "gloo", 6e6)], tmp_path)


def test_a_peer_that_is_not_there_says_why(tmp_path):
    assert "not built" in peers.OpenMpi(str(tmp_path / "none")).missing() or "mpirun" in peers.OpenMpi("x").missing()
    assert "--pccl-python" in peers.Pccl("no-such-python", 1).missing()
    assert "ModuleNotFoundError" in peers.Pccl(sys.executable, 1).missing()


def test_the_command_line():
    done = subprocess.run([sys.executable, PEERS / "run", "--list"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "2sites-cubic-loss0.1" in done.stdout and "pccl-16" in done.stdout
    done = subprocess.run([sys.executable, PEERS / "run", "--setting", "x"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "'x' is none of" in done.stderr


def test_rows_are_plain_data():
    json.dumps([vars(row("2sites-bbr", "gloo", 6e6))])
