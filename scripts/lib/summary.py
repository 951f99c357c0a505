"""Counts what ctest ran, per label: python summary.py [--expected FILE] RESULTS...

Each RESULTS.xml (ctest --output-junit) has a RESULTS.json (ctest --show-only=json-v1) beside it, which has the labels.
Cases inside a GoogleTest, pytest or unittest program are counted one by one; any other entry counts as one case.
Results of a sanitizer's build are counted under its name. The last line is "N passed, N failed, N skipped".
"""

import argparse
import collections
import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

Count = collections.namedtuple("Count", "passed failed skipped reasons")
SANITIZERS = ("asan", "tsan")


def number(pattern: str, text: str) -> int:
    return sum(int(found) for found in re.findall(pattern, text))


def count_googletest(text: str) -> Count:
    reasons = re.findall(r": Skipped\n(.*?)\n?\[  SKIPPED \] (\S+) \(", text, re.S)
    return Count(
        number(r"\[  PASSED  \] (\d+) test", text),
        number(r"\[  FAILED  \] (\d+) tests?, listed", text),
        number(r"\[  SKIPPED \] (\d+) tests?, listed", text),
        [f"{name}: {reason.strip() or 'no reason given'}" for reason, name in reasons],
    )


def count_pytest(text: str) -> Count:
    closing = re.findall(r"^.*\d+ (?:passed|failed|skipped|errors?)\b.* in [\d.]+s.*$", text, re.M)[-1]
    return Count(
        number(r"(\d+) passed", closing),
        number(r"(\d+) (?:failed|errors?)", closing),
        number(r"(\d+) skipped", closing),
        re.findall(r"^SKIPPED (.*)$", text, re.M),
    )


def count_unittest(text: str) -> Count:
    ran = number(r"(?m)^Ran (\d+) tests? in", text)
    failed = number(r"(?:failures|errors)=(\d+)", text)
    skipped = number(r"skipped=(\d+)", text)
    return Count(ran - failed - skipped, failed, skipped, re.findall(r"^(.* \.\.\. skipped .*)$", text, re.M))


def count_output(text: str) -> Count | None:
    if "[==========] Running" in text:
        return count_googletest(text)
    if re.search(r"\d+ (passed|failed|skipped|errors?)\b.* in [\d.]+s", text):
        return count_pytest(text)
    if re.search(r"^Ran \d+ tests? in", text, re.M):
        return count_unittest(text)
    return None


def count_entry(case: xml.etree.ElementTree.Element) -> Count:
    text = case.findtext("system-out") or ""
    status = case.get("status")
    if status in ("notrun", "disabled"):
        last_line = ([line for line in text.splitlines() if line.strip()] or ["no reason given"])[-1]
        return Count(0, 0, 1, [last_line])
    counted = count_output(text) or Count(int(status == "run"), int(status != "run"), 0, [])
    if status != "run" and not counted.failed:
        return counted._replace(failed=1)  # it crashed, hung, or failed after its last case
    if status == "run" and not any(counted[:3]):
        return Count(0, 1, 0, [])  # a program that runs no case proves nothing
    return counted


def read_entries(results: pathlib.Path):
    labels = {}
    for test in json.loads(results.with_suffix(".json").read_text())["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        labels[test["name"]] = properties.get("LABELS", ["unlabelled"])
    if not results.exists():
        return  # no test was selected
    # Programs may print what XML may not hold.
    text = results.read_text(errors="replace")
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:[0-8]|1[1-9]|2\d|3[01]);", "", text)
    for case in xml.etree.ElementTree.fromstring(text).iter("testcase"):
        rows = [results.stem] if results.stem in SANITIZERS else labels[case.get("name")]
        yield case.get("name"), rows, count_entry(case)


def missing(expected: pathlib.Path, rows: dict) -> list[str]:
    # A laptop may skip what it has no rights for. CI may not.
    strict = os.environ.get("CI") == "true"
    problems = []
    for line in expected.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            passed, failed, skipped = rows.get(words[0], (0, 0, 0))
            ran = passed + failed + (0 if strict else skipped)
            if ran < int(words[1]):
                problems.append(f"label {words[0]}: {ran} tests ran, at least {words[1]} are expected")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--expected", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    rows = collections.defaultdict(lambda: [0, 0, 0])
    total = [0, 0, 0]
    failed_entries, skips = [], []
    for results in arguments.results:
        for name, labels, counted in read_entries(results):
            for row in [total, *(rows[label] for label in labels)]:
                for index in range(3):
                    row[index] += counted[index]
            skips += [f"{name}: {reason}" for reason in counted.reasons]
            if counted.failed:
                failed_entries.append(f"{name} ({results.stem})")
    for line in skips:
        print(f"skipped: {line}")
    for line in failed_entries:
        print(f"FAILED: {line}")
    print(f"{'label':<14}{'passed':>8}{'failed':>8}{'skipped':>9}")
    for label, row in sorted(rows.items()):
        print(f"{label:<14}{row[0]:>8}{row[1]:>8}{row[2]:>9}")
    problems = missing(arguments.expected, rows) if arguments.expected else []
    if not total[0] and not total[1]:
        problems.append("no test ran")
    for problem in problems:
        print(f"error: {problem}")
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or problems else 0


if __name__ == "__main__":
    sys.exit(main())
