"""Runs one peer in one setting of the lab and returns a row."""

import dataclasses
import json
import os
import re
import subprocess
import tempfile

RESULT = re.compile(r"^\[\S+\] (\{.*\})$", re.MULTILINE)


@dataclasses.dataclass
class Row:
    setting: str
    peer: str
    p50_us: float | None = None
    value: float | None = None  # in the setting's unit
    version: str = ""
    congestion: str = ""
    lanes: int | None = None
    wrong: int | None = None
    note: str = ""  # why there is no figure, or why it does not count


def last_words(done):
    """The last line of a rank, else of the lab, of a run that failed."""
    lines = (done.stdout + done.stderr).strip().splitlines()
    of_ranks = [line for line in lines if line.startswith("[")]
    return (of_ranks or lines or ["said nothing"])[-1]


def run_row(isthmus, setting, peer, limit_s):
    """One row; a failure is a row with a note."""
    row = Row(setting.name, peer.name)
    with tempfile.TemporaryDirectory() as spool:
        words = [isthmus, "lab", "--quiet", "--grace", "5s", "--timeout", f"{limit_s}s", *setting.lab_options()]
        done = subprocess.run([*words, "--", *peer.command(setting)], capture_output=True, text=True,
                              timeout=limit_s + 60, env=os.environ | peer.environment(setting, spool))  # fmt: skip
    found = RESULT.findall(done.stdout)
    if done.returncode == 124:
        row.note = f"not done within {limit_s} s"
    elif done.returncode != 0 or len(found) != 1:
        row.note = f"failed ({done.returncode}): {last_words(done)}"
    else:
        for name, value in peer.read(json.loads(found[0])).items():
            setattr(row, name, value)
        row.value = setting.value(row.p50_us)
        if row.wrong:
            row.note = f"{row.wrong} elements are wrong"
        elif row.congestion != setting.congestion:
            row.note = f"congestion control is {row.congestion or 'unknown'}"
    return row
