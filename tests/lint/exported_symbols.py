"""libisthmus.so exports isthmus_* and nothing else: python exported_symbols.py LIBRARY NM."""

import re
import subprocess
import sys


def exported(library: str, nm: str) -> list[str]:
    output = subprocess.run(
        [nm, "--dynamic", "--defined-only", "--format=posix", library], check=True, capture_output=True, text=True
    ).stdout
    return [line.split()[0] for line in output.splitlines() if line]


def check(symbols: list[str]) -> list[str]:
    problems = [f"exports {name}" for name in symbols if not re.match(r"isthmus_[a-z0-9_]+(@@\w+)?$", name)]
    if not any(name.startswith("isthmus_") for name in symbols):
        problems.append("exports no isthmus_* at all")
    return problems


if __name__ == "__main__":
    found = check(exported(sys.argv[1], sys.argv[2]))
    print("\n".join(found) or "only isthmus_* symbols")
    sys.exit(1 if found else 0)
