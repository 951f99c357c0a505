"""Builds the extension module for another series of torch than the installed one: torch_series_test.py CMAKE BUILD.

The wheel of that torch is downloaded (OTHER_TORCH, default 2.14.1; OTHER_TORCH_WHEEL names a file instead) and only its
headers and three libraries are unpacked: the module is compiled and linked, not run. The build folder is one beside
BUILD, so that ccache knows what is not torch's. It ends with 77 where no index has the wheel.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

CMAKE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
VERSION = os.environ.get("OTHER_TORCH", "2.14.1")
LIBRARIES = [f"torch/lib/lib{name}.so" for name in ("c10", "torch_cpu", "torch_python")]
CCACHE = {"CCACHE_BASEDIR": str(SOURCE), "CCACHE_NOHASHDIR": "1"}


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=os.environ | CCACHE)


def must(*command) -> str:
    done = run(*command)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout


def find_wheel(folder: pathlib.Path) -> pathlib.Path:
    if given := os.environ.get("OTHER_TORCH_WHEEL"):
        return pathlib.Path(given)
    done = run(sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, f"torch=={VERSION}")
    if done.returncode:
        print(f"skipped: pip has no torch {VERSION} for this Python: {done.stderr[-500:]}")
        raise SystemExit(77)
    return next(folder.glob("torch-*.whl"))


def unpack(wheel: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    with zipfile.ZipFile(wheel) as archive:
        wanted = [name for name in archive.namelist() if name.startswith("torch/include/")]
        archive.extractall(folder, [*wanted, "torch/version.py", *LIBRARIES])
    return folder / "torch"


def series_of(root: pathlib.Path) -> str:
    return re.search(r"__version__ = '(\d+\.\d+)", (root / "version.py").read_text())[1]


def build_for(root: pathlib.Path, built: pathlib.Path) -> None:
    must(CMAKE, "--preset", "ci", "-S", SOURCE, "-B", built,
         f"-DPython3_EXECUTABLE={sys.executable}", f"-DISTHMUS_TORCH_ROOTS={root}")  # fmt: skip
    must(CMAKE, "--build", built, "--parallel", os.environ.get("BUILD_JOBS", "2"), "--target", "isthmus_torch")


def main() -> None:
    built = BUILD.parent / "torch-series"
    with tempfile.TemporaryDirectory(prefix="isthmus-torch-series-") as name:
        folder = pathlib.Path(name)
        root = unpack(find_wheel(folder), folder)
        try:
            build_for(root, built)
            series = series_of(root)
            (module,) = (built / "lib").glob("_torch_*.so")
            wanted = f"_torch_{series.replace('.', '_')}"
            assert module.name.startswith(f"{wanted}."), module
            assert f"PyInit_{wanted}" in must("nm", "-D", "--defined-only", module)
            print(f"{module.name}: built for torch {series}")
        finally:
            shutil.rmtree(built, ignore_errors=True)


if __name__ == "__main__":
    main()
