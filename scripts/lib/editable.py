"""Installs the checkout into .venv, as `pip install --editable` would: python editable.py BUILD_FOLDER.

The build folder's python/isthmus has links to the Python files, so an edit needs no new installation, and to the
extension module; the programs are links too. Name, version and entry points come from pyproject.toml, so pip sees a
distribution. Without the extension module there are no entry points: torch loads them, and a failing one breaks torch.
"""

import pathlib
import re
import site
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def project() -> dict:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    rule = document["tool"]["scikit-build"]["metadata"]["version"]
    version = re.search(rule["regex"], (ROOT / rule["input"]).read_text())["value"]
    return document["project"] | {"version": version}


def link(path: pathlib.Path, target: pathlib.Path) -> None:
    if path.is_symlink() and path.readlink() == target:
        return
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def extension(build: pathlib.Path) -> pathlib.Path | None:
    return next((path for path in (build / "python/isthmus").glob("_torch_*.so") if path.exists()), None)


def link_programs(build: pathlib.Path) -> None:
    for name in ("isthmus", "isthmus-lab"):
        built = build / "bin" / name
        installed = pathlib.Path(sys.prefix) / "bin" / name
        if built.exists():
            link(installed, built)
        else:
            installed.unlink(missing_ok=True)
        print(f"    {name}: {installed.relative_to(ROOT) if built.exists() else 'not built'}")


def entry_points(groups: dict) -> str:
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()), ""]
    return "\n".join(lines)


def write_distribution(build: pathlib.Path, packages: pathlib.Path) -> None:
    about = project()
    for old in packages.glob("isthmus-*.dist-info"):
        if old.name != f"isthmus-{about['version']}.dist-info":
            for file in old.iterdir():
                file.unlink()
            old.rmdir()
    info = packages / f"isthmus-{about['version']}.dist-info"
    info.mkdir(exist_ok=True)
    files = {
        packages / "__editable__.isthmus.pth": f"{build / 'python'}\n",
        info / "METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
        f"Summary: {about['description']}\n",
        info / "INSTALLER": "scripts/build\n",
        info / "entry_points.txt": entry_points(about["entry-points"] if extension(build) else {}),
    }
    record = info / "RECORD"
    files[record] = "".join(f"{file.relative_to(packages)},,\n" for file in [*files, record])
    for file, text in files.items():
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    write_distribution(build, pathlib.Path(site.getsitepackages()[0]))
    built = extension(build)
    print(f"    extension module: {built.relative_to(ROOT) if built else 'not built'}")
    link_programs(build)


if __name__ == "__main__":
    main()
