"""Installs the checkout into .venv, as `pip install --editable` would: python editable.py BUILD_FOLDER.

Python files are used where they lie, so an edit needs no new installation; the extension module and the programs are
links into the build folder. Name, version and entry points come from pyproject.toml, so pip sees a distribution.
Without the extension module there are no entry points: torch loads them at import, and one that fails breaks torch.
"""

import pathlib
import re
import site
import sys
import sysconfig
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings/python/isthmus"


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


def extension(build: pathlib.Path) -> pathlib.Path:
    return build / "lib" / f"_C{sysconfig.get_config_var('EXT_SUFFIX')}"


def link_extension(build: pathlib.Path) -> None:
    built = extension(build)
    for old in PACKAGE.glob("_C*.so"):
        if old.name != built.name or not built.exists():
            old.unlink()
    if built.exists():
        link(PACKAGE / built.name, built)
    print(f"    isthmus._C: {built.relative_to(ROOT) if built.exists() else 'not built'}")


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


def write_distribution(packages: pathlib.Path, with_entry_points: bool) -> None:
    about = project()
    for old in packages.glob("isthmus-*.dist-info"):
        if old.name != f"isthmus-{about['version']}.dist-info":
            for file in old.iterdir():
                file.unlink()
            old.rmdir()
    info = packages / f"isthmus-{about['version']}.dist-info"
    info.mkdir(exist_ok=True)
    files = {
        packages / "__editable__.isthmus.pth": f"{PACKAGE.parent}\n",
        info / "METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
        f"Summary: {about['description']}\n",
        info / "INSTALLER": "scripts/build\n",
        info / "entry_points.txt": entry_points(about["entry-points"] if with_entry_points else {}),
    }
    record = info / "RECORD"
    files[record] = "".join(f"{file.relative_to(packages)},,\n" for file in [*files, record])
    for file, text in files.items():
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    link_extension(build)
    write_distribution(pathlib.Path(site.getsitepackages()[0]), extension(build).exists())
    link_programs(build)


if __name__ == "__main__":
    main()
