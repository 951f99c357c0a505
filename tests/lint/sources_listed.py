"""Every source file is named in a CMakeLists.txt, and nothing is globbed.

A test that CMake does not know is a test that never runs. Python tests (*_test.py) count as sources too.
"""

import os
import pathlib
import re

import tree

FOLDERS = (*tree.PRODUCT, "tests")


def text_of(lists: pathlib.Path) -> str:
    """Without comments, and with paths relative to the file."""
    return re.sub(r"#[^\n]*|\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}/", "", lists.read_text())


def lists(root: pathlib.Path) -> list[pathlib.Path]:
    return [root / path for path in tree.files(root, FOLDERS, (".txt",)) if path.name == "CMakeLists.txt"]


def listed(root: pathlib.Path) -> set[pathlib.Path]:
    """Every path that a word of a CMakeLists.txt can mean, also through a pattern like ${name}_test.cc."""
    found = set()
    for path in lists(root):
        text = text_of(path)
        patterns = set(re.findall(r"([\w./-]*)\$\{\w+\}([\w-]*\.(?:cc|c|cu|py))\b", text)) | {("", "")}
        for word in re.findall(r"[\w./-]+", text):
            found |= {
                pathlib.Path(os.path.normpath(path.parent / (before + word + after))) for before, after in patterns
            }
    return found


def check_globs(root: pathlib.Path) -> list[str]:
    glob = re.compile(r"file\s*\(\s*GLOB|aux_source_directory\s*\(", re.I)
    files = [root / "CMakeLists.txt", *sorted((root / "cmake").glob("*.cmake")), *lists(root)]
    return [
        f"{path.relative_to(root)}: globs; list the files"
        for path in files
        if path.is_file() and glob.search(text_of(path))
    ]


def check(root: pathlib.Path) -> list[str]:
    sources = list(tree.files(root, FOLDERS, (".cc", ".c", ".cu")))
    sources += [path for path in tree.files(root, ("tests",), (".py",)) if path.name.endswith("_test.py")]
    known = listed(root)
    problems = [f"{path}: in no CMakeLists.txt" for path in sources if root / path not in known]
    return problems + check_globs(root)


if __name__ == "__main__":
    tree.main(check)
