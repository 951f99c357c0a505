"""What the lint tests share: which files are the project's, and how a test reports.

Each lint module has `check(root) -> list of problems`; `python MODULE.py ROOT` prints them and fails if there are any.
"""

import pathlib
import sys
from collections.abc import Callable, Iterator

PRODUCT = ("runtime", "compression", "collectives", "bindings", "benchmarks", "examples")
CODE = (".h", ".cc", ".c", ".cu")


def files(root: pathlib.Path, folders: tuple[str, ...], suffixes: tuple[str, ...]) -> Iterator[pathlib.Path]:
    """Paths relative to root, sorted."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root)


def lines(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    yield from enumerate(path.read_text(errors="replace").splitlines(), start=1)


def main(check: Callable[[pathlib.Path], list[str]]) -> None:
    problems = check(pathlib.Path(sys.argv[1]).resolve())
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)
