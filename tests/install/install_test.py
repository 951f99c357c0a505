"""Installs the build into an empty prefix and uses it as a stranger would: python install_test.py BUILD VERSION CMAKE.

The prefix is moved once before use, so nothing in it may name the place where it was installed.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, VERSION, CMAKE = (sys.argv.pop(1) for _ in range(3))
CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
MAJOR = VERSION.split(".")[0]


def run(*command, **options) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{command} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        run(CMAKE, "--install", BUILD, "--prefix", cls.work / "first")
        cls.prefix = (cls.work / "first").rename(cls.work / "prefix")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_files(self):
        for name in (
            "lib/libisthmus.so",
            f"lib/libisthmus.so.{MAJOR}",
            f"lib/libisthmus.so.{VERSION}",
            "lib/cmake/isthmus/isthmus-config.cmake",
            "lib/pkgconfig/isthmus.pc",
            "include/isthmus/isthmus.h",
            "include/isthmus/version.h",
            "bin/isthmus",
            "bin/isthmus-bench",
            "bin/isthmus-lab",
        ):
            self.assertTrue((self.prefix / name).exists(), name)

    def test_only_public_headers_are_installed(self):
        self.assertEqual({path.name for path in self.prefix.iterdir()}, {"bin", "include", "lib"})
        installed = {path.relative_to(self.prefix / "include").parts[0] for path in self.prefix.glob("include/**/*.h")}
        self.assertEqual(installed, {"isthmus"})
        self.assertEqual(list(self.prefix.glob("lib/*.a")), [])

    def test_soname_and_no_trace_of_the_build(self):
        dynamic = run("readelf", "--dynamic", self.prefix / "lib/libisthmus.so")
        self.assertIn(f"soname: [libisthmus.so.{MAJOR}]", dynamic)
        for name in ("lib/libisthmus.so", "bin/isthmus", "bin/isthmus-bench", "bin/isthmus-lab"):
            self.assertNotIn(BUILD, run("readelf", "--dynamic", self.prefix / name), name)

    def test_find_package(self):
        build = self.work / "with-cmake"
        where = (f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DWANTED_VERSION={VERSION}")
        run(CMAKE, "-G", "Ninja", "-S", CONSUMER, "-B", build, *where)
        run(CMAKE, "--build", build)
        self.assertEqual(run(build / "consumer").strip(), VERSION)

    def test_pkg_config(self):
        variables = os.environ | {"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "isthmus", env=variables).split()
        self.assertEqual(run("pkg-config", "--modversion", "isthmus", env=variables).strip(), VERSION)
        program = self.work / "with-pkg-config"
        run("cc", "-std=c11", "-Wall", "-Werror", CONSUMER / "main.c", "-o", program, *flags)
        found = os.environ | {"LD_LIBRARY_PATH": str(self.prefix / "lib")}
        self.assertEqual(run(program, env=found).strip(), VERSION)

    def test_programs_run_from_the_prefix(self):
        self.assertIn(VERSION, run(self.prefix / "bin/isthmus", "--version"))
        self.assertIn("--sites", run(self.prefix / "bin/isthmus", "lab", "--help"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
