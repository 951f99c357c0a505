"""The environment is read in one file. The lab hands it on to the programs it starts and sets theirs; it reads none."""

import pathlib
import re

import tree

READER = pathlib.Path("runtime/config/environment.cc")
CHILDREN = "benchmarks/lab"
READS = re.compile(r"\b(secure_getenv|getenv|getenv_s)\b")
CHILDRENS = re.compile(r"\b(environ|__environ|setenv|putenv|unsetenv|clearenv)\b")


def code(text: str) -> str:
    """The text without comments and strings; lines stay lines."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda found: "\n" * found[0].count("\n"), text, flags=re.S)


def check(root: pathlib.Path) -> list[str]:
    problems = []
    for path in tree.files(root, tree.PRODUCT, tree.CODE):
        for number, line in enumerate(code((root / path).read_text()).splitlines(), start=1):
            read, childrens = READS.search(line), CHILDRENS.search(line)
            if read and path != READER:
                problems.append(f"{path}:{number}: {read[0]}: only {READER} reads the environment")
            if childrens and path != READER and not path.is_relative_to(CHILDREN):
                problems.append(f"{path}:{number}: {childrens[0]}: only {CHILDREN}, for its children")
    return problems


if __name__ == "__main__":
    tree.main(check)
