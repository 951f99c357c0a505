"""Each public header compiles alone, as C11 and as C++:

python public_headers.py --cc CC --cxx CXX HEADER-FOLDER...
"""

import argparse
import pathlib
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]


def check(folders: list[pathlib.Path], cc: str, cxx: str) -> list[str]:
    languages = [(cc, "c", "c11"), (cxx, "c++", "c++11"), (cxx, "c++", "c++20")]
    includes = [f"-I{folder}" for folder in folders]
    headers = sorted(str(path.relative_to(folder)) for folder in folders for path in folder.rglob("*.h"))
    problems = [] if headers else ["no public header found"]
    for header in headers:
        for compiler, language, standard in languages:
            run = subprocess.run(
                [compiler, *WARNINGS, f"-std={standard}", *includes, "-x", language, "-"],
                # Twice, so that a header without its guard is found; a translation unit must not be empty.
                input=f"#include <{header}>\n#include <{header}>\ntypedef int not_empty;\n",
                capture_output=True,
                text=True,
            )
            if run.returncode:
                problems.append(f"<{header}> as {standard}:\n{run.stderr}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    problems = check(arguments.folders, arguments.cc, arguments.cxx)
    print("\n".join(problems) or "all public headers compile alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
