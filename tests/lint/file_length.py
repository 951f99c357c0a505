"""No file is longer than 600 lines: split by noun before that."""

import pathlib

import tree

LIMIT = 600
FOLDERS = (*tree.PRODUCT, "tests", "scripts", "cmake")


def check(root: pathlib.Path) -> list[str]:
    problems = []
    for path in tree.files(root, FOLDERS, (*tree.CODE, ".py", ".sh", ".cmake", "")):
        count = sum(1 for _ in tree.lines(root / path))
        if count > LIMIT:
            problems.append(f"{path}: {count} lines, at most {LIMIT}")
    return problems


if __name__ == "__main__":
    tree.main(check)
