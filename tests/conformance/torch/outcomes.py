"""The committed lists: what each test of torch's distributed_test.py did, by setting.

A line is "test outcome outcome ... # reason", one outcome per setting of the list's first line: pass, skip, fail, or -
where it was not run. The reason is that of the first setting that did not pass.
"""

from __future__ import annotations

import pathlib
import re

Outcomes = dict[str, dict[str, tuple[str, str]]]  # test -> setting -> (outcome, reason)

_SETTINGS = re.compile(r"# settings: (.*)")
# What differs from run to run has no place in a reason.
_VARYING = [(re.compile(r"process \d+ exited with error code \d+ and exception:"), "exception:"),
            (re.compile(r"/\S*/"), ""), (re.compile(r"0x[0-9a-f]+|\bpid \d+|port \d+"), "...")]  # fmt: skip


def parse_results(text: str) -> dict[str, tuple[str, str]]:
    """Of what suite.py wrote."""
    rows = [line.split("\t") for line in text.splitlines()]
    return {name: (outcome, reason) for name, outcome, _seconds, reason in rows}


def shortened(reason: str) -> str:
    for pattern, replacement in _VARYING:
        reason = pattern.sub(replacement, reason)
    return reason[:120].strip()


def format_list(outcomes: Outcomes, settings: list[str], title: str) -> str:
    lines = [f"# {title}", f"# settings: {' '.join(settings)}"]
    for test in sorted(outcomes):
        found = outcomes[test]
        columns = [found[setting][0] if setting in found else "-" for setting in settings]
        reasons = [shortened(reason) for outcome, reason in found.values() if outcome != "pass" and reason]
        lines.append(f"{test} {' '.join(columns)}" + (f" # {reasons[0]}" if reasons else ""))
    return "\n".join(lines) + "\n"


def read_list(path: pathlib.Path) -> Outcomes:
    settings: list[str] = []
    outcomes: Outcomes = {}
    for line in path.read_text().splitlines():
        if match := _SETTINGS.fullmatch(line):
            settings = match[1].split()
        elif not line.startswith("#"):
            columns, _, reason = line.partition(" # ")
            test, *found = columns.split()
            pairs = zip(settings, found, strict=True)
            outcomes[test] = {setting: (outcome, reason) for setting, outcome in pairs if outcome != "-"}
    return outcomes


def lost_passes(expected: Outcomes, found: Outcomes) -> list[str]:
    """What passed in the list and did not now, among what was run now."""
    lost = []
    for test, by_setting in found.items():
        for setting, (outcome, reason) in by_setting.items():
            before = expected.get(test, {}).get(setting, ("-", ""))[0]
            if before == "pass" and outcome != "pass":
                lost.append(f"{test} with {setting}: {outcome}, passed before: {reason[-2000:]}")
    return lost


def counts(outcomes: Outcomes, setting: str) -> str:
    found = [by_setting[setting][0] for by_setting in outcomes.values() if setting in by_setting]
    return ", ".join(f"{found.count(kind)} {kind}" for kind in ("pass", "skip", "fail"))
