"""Every source file is named in a CMakeLists.txt on its path, and nothing is globbed.

A test that CMake does not know is a test that never runs. Python tests (*_test.py) count as sources too.
"""

import pathlib
import re

import tree

FOLDERS = (*tree.PRODUCT, "tests")


def listed(root: pathlib.Path, source: pathlib.Path) -> bool:
    for folder in source.parents:
        lists = root / folder / "CMakeLists.txt"
        if lists.is_file():
            name = re.escape(str(source.relative_to(folder)))
            if re.search(rf"(?<![\w./-]){name}(?![\w.-])", without_comments(lists.read_text())):
                return True
    return False


def without_comments(text: str) -> str:
    return re.sub(r"#[^\n]*|\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}/", "", text)


def check_globs(root: pathlib.Path) -> list[str]:
    lists = [root / "CMakeLists.txt", *(root / "cmake").glob("*.cmake")]
    lists += [root / path for path in tree.files(root, FOLDERS, (".txt", ".cmake"))]
    glob = re.compile(r"file\s*\(\s*GLOB|aux_source_directory\s*\(", re.I)
    return [
        f"{path.relative_to(root)}: globs; list the files"
        for path in lists
        if path.is_file() and glob.search(without_comments(path.read_text()))
    ]


def check(root: pathlib.Path) -> list[str]:
    sources = list(tree.files(root, FOLDERS, (".cc", ".c", ".cu")))
    sources += [path for path in tree.files(root, ("tests",), (".py",)) if path.name.endswith("_test.py")]
    problems = [f"{path}: in no CMakeLists.txt" for path in sources if not listed(root, path)]
    return problems + check_globs(root)


if __name__ == "__main__":
    tree.main(check)
