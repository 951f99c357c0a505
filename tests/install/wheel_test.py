"""pip installs the source tree, and a wheel of it, into a new environment; what it has installed works there.

Torch is that of the environment which runs the test, and pip sees it: nothing of its size is downloaded. Ends with 77
where pip cannot get scikit-build-core.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ONE_RANK = """
import torch, torch.distributed as dist
assert "isthmus" in dist.Backend.backend_list, "the entry point did not register the backend"
dist.init_process_group("isthmus", store=dist.HashStore(), rank=0, world_size=1)
tensor = torch.ones(3)
dist.all_reduce(tensor)
import isthmus
dist.destroy_process_group()
print("all right", isthmus.__version__, isthmus.__file__)
"""
OTHER_TORCH = """
import torch
torch.__version__ = "9.9.0"
import isthmus
isthmus.options()
"""


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def must(*command, **options) -> str:
    done = run(*command, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout


def make_environment(folder: pathlib.Path) -> pathlib.Path:
    """Sees this environment's packages, torch among them, after its own."""
    must(sys.executable, "-m", "venv", folder)
    packages = must(sys.executable, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "torch_of_the_test.pth").write_text(packages + "\n")
    return folder / "bin" / "python"


def check_package(python: pathlib.Path, folder: pathlib.Path, clean: dict[str, str]) -> None:
    """What is installed registers itself, works, says what it is, and comes with its types."""
    out = must(python, "-c", ONE_RANK, env=clean, cwd=folder)
    place = pathlib.Path(out.split()[-1]).parent
    assert "all right" in out and place.is_relative_to(folder), out
    names = {path.name for path in place.iterdir()}
    assert {"py.typed", "_C.pyi", "libisthmus.so.0"} <= names, names
    assert [name for name in names if name.startswith("_torch_")], names
    assert "protocol" in must(python, "-m", "isthmus.info", env=clean, cwd=folder)
    command = python.parent / "isthmus"
    assert "--sites" in must(command, "lab", "--help", env=clean) and "--size" in must(command, "bench", "--help", env=clean)
    done = run(python, "-c", OTHER_TORCH, env=clean, cwd=folder)
    assert "no extension module for torch 9.9.0" in done.stderr and done.returncode != 0, done.stderr


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="isthmus-wheel-") as name:
        folder = pathlib.Path(name)
        python = make_environment(folder / "venv")
        got = run(python, "-m", "pip", "install", "-q", "scikit-build-core>=0.11")
        if got.returncode:
            print(f"skipped: pip has no scikit-build-core: {got.stderr[-500:]}")
            raise SystemExit(77)
        path = {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | path
        # Forced: pip also sees the checkout that scripts/build has put into the environment which runs the test.
        install = ["-m", "pip", "install", "--no-deps", "--force-reinstall"]
        options = ["--no-build-isolation", f"--config-settings=build-dir={SOURCE / 'build' / 'wheel'}"]
        try:
            must(python, *install, *options, SOURCE, env=clean)
            check_package(python, folder, clean)
            must(python, "-m", "pip", "wheel", "--no-deps", *options, "-w", folder, SOURCE, env=clean)
        finally:
            shutil.rmtree(SOURCE / "build" / "wheel", ignore_errors=True)
        (wheel,) = folder.glob("isthmus-*.whl")
        must(python, *install, wheel, env=clean)
        check_package(python, folder, clean)
        print(f"{wheel.name}: installed from the source tree and as a wheel, and used")


if __name__ == "__main__":
    main()
