"""The environment is read in one file. The lab may set variables for the programs it starts, and read none."""

import pathlib
import re

import tree

READER = pathlib.Path("runtime/config/environment.cc")
CHILDREN = "benchmarks/lab"
READS = re.compile(r"\b(secure_getenv|getenv|environ|__environ|getenv_s)\b")
WRITES = re.compile(r"\b(setenv|putenv|unsetenv|clearenv)\b")


def code(text: str) -> str:
    """The text without comments and strings; lines stay lines."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda found: "\n" * found[0].count("\n"), text, flags=re.S)


def check(root: pathlib.Path) -> list[str]:
    problems = []
    for path in tree.files(root, tree.PRODUCT, tree.CODE):
        for number, line in enumerate(code((root / path).read_text()).splitlines(), start=1):
            read, write = READS.search(line), WRITES.search(line)
            if read and path != READER:
                problems.append(f"{path}:{number}: {read[0]}: only {READER} reads the environment")
            if write and not path.is_relative_to(CHILDREN):
                problems.append(f"{path}:{number}: {write[0]}: only {CHILDREN} sets variables, for its children")
    return problems


if __name__ == "__main__":
    tree.main(check)
