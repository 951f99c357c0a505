"""Each lint can fail: a small bad tree per rule, and the good one beside it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import environment_access
import exported_symbols
import file_length
import include_edges
import public_headers
import sources_listed


class TreeTest(unittest.TestCase):
    def problems(self, module, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return module.check(root)


class IncludeEdgesTest(TreeTest):
    def included(self, source: str, target: str) -> list[str]:
        return self.problems(include_edges, {source: f'#include "{target}"\n', target: ""})

    def test_edges_of_the_table_pass(self):
        self.assertEqual(self.included("runtime/config/options.cc", "runtime/base/status.h"), [])
        self.assertEqual(self.included("runtime/transport/libfabric/lane.cc", "runtime/device/device.h"), [])
        self.assertEqual(self.included("collectives/communicator.cc", "collectives/schedule/ring.h"), [])
        self.assertEqual(self.included("tests/runtime/base/x_test.cc", "tests/support/world.h"), [])

    def test_upward_include_fails(self):
        problem = self.included("runtime/base/a.cc", "runtime/engine/b.h")[0]
        self.assertIn("runtime/base may not include runtime/engine", problem)

    def test_sideways_include_fails(self):
        self.assertEqual(len(self.included("runtime/link/a.cc", "runtime/bootstrap/b.h")), 1)
        self.assertEqual(len(self.included("collectives/schedule/a.cc", "collectives/communicator.h")), 1)

    def test_torch_shim_sees_only_the_public_header(self):
        self.assertEqual(self.included("bindings/torch/a.cc", "bindings/c/include/isthmus/isthmus.h"), [])
        self.assertEqual(len(self.included("bindings/torch/a.cc", "runtime/base/status.h")), 1)

    def test_including_tests_or_benchmarks_fails(self):
        self.assertEqual(len(self.included("runtime/base/a.cc", "tests/support/world.h")), 1)
        self.assertEqual(len(self.included("bindings/cli/a.cc", "benchmarks/lab/wan.h")), 1)

    def test_missing_file_fails(self):
        files = {"runtime/base/a.cc": '#include "runtime/base/gone.h"\n'}
        self.assertEqual(len(self.problems(include_edges, files)), 1)

    def test_folder_without_a_row_fails(self):
        self.assertEqual(len(self.included("runtime/utils/a.cc", "runtime/base/status.h")), 1)

    def test_relative_include_is_resolved(self):
        files = {"runtime/base/a.cc": '#include "../engine/b.h"\n', "runtime/engine/b.h": ""}
        self.assertEqual(len(self.problems(include_edges, files)), 1)

    def test_fences(self):
        for header, home in [
            ("rdma/fabric.h", "runtime/transport/libfabric"),
            ("ucp/api/ucp.h", "runtime/transport/ucx"),
            ("openssl/ssl.h", "runtime/control"),
            ("nccl.h", "collectives/local"),
            ("mpi.h", "bindings/mpi"),
            ("cuda_runtime.h", "runtime/device"),
            ("zstd.h", "compression/zstd"),
            ("torch/extension.h", "bindings/torch"),
        ]:
            source = f"#include <{header}>\n"
            self.assertEqual(self.problems(include_edges, {f"{home}/a.cc": source}), [], header)
            self.assertEqual(len(self.problems(include_edges, {"runtime/engine/a.cc": source})), 1, header)


class EnvironmentAccessTest(TreeTest):
    def test_the_one_file_passes(self):
        files = {
            "runtime/config/environment.cc": 'const char* v = getenv("A");\n',
            "benchmarks/lab/child.cc": 'run(environ);\nsetenv("RANK", "0", 1);\n',
            "tests/a_test.cc": 'getenv("HOME");\n',
            "runtime/base/a.cc": "// getenv is elsewhere\n",
        }
        self.assertEqual(self.problems(environment_access, files), [])

    def test_other_reads_and_writes_fail(self):
        for line in ('std::getenv("A")', 'secure_getenv("A")', "extern char** environ;", 'setenv("A", "", 1)'):
            self.assertEqual(len(self.problems(environment_access, {"runtime/base/a.cc": line})), 1, line)

    def test_the_lab_reads_nothing(self):
        self.assertEqual(len(self.problems(environment_access, {"benchmarks/lab/a.cc": 'getenv("A");'})), 1)


class SourcesListedTest(TreeTest):
    def test_listed_source_passes(self):
        files = {
            "runtime/base/CMakeLists.txt": "isthmus_library(NAME base SOURCES a.cc)",
            "runtime/base/a.cc": "",
            "runtime/CMakeLists.txt": "x(shaped/b.cc)",
            "runtime/shaped/b.cc": "",
            "tests/base/CMakeLists.txt": "foreach(name b c)\nx(${name}_test.cc)\nendforeach()\ny(../d_test.cc)",
            "tests/base/b_test.cc": "",
            "tests/base/c_test.cc": "",
            "tests/d_test.cc": "",
        }
        self.assertEqual(self.problems(sources_listed, files), [])

    def test_unlisted_source_fails(self):
        for lists in ("", "# a_test.cc", "x(aa_test.cc)", "x(a_test.ccc)", "x(a)", "foreach(n b)\nx(${n}_test.cc)"):
            files = {"tests/base/CMakeLists.txt": lists, "tests/base/a_test.cc": ""}
            self.assertEqual(len(self.problems(sources_listed, files)), 1, lists)

    def test_unlisted_python_test_fails(self):
        self.assertEqual(len(self.problems(sources_listed, {"tests/torch/ddp_test.py": ""})), 1)

    def test_glob_fails(self):
        for command in ("file(GLOB sources *.cc)", "FILE (GLOB_RECURSE s *.cc)", "aux_source_directory(. s)"):
            self.assertEqual(len(self.problems(sources_listed, {"runtime/CMakeLists.txt": command})), 1, command)


class FileLengthTest(TreeTest):
    def test_limit(self):
        self.assertEqual(self.problems(file_length, {"runtime/a.cc": "\n" * 600}), [])
        self.assertEqual(len(self.problems(file_length, {"runtime/a.cc": "\n" * 601})), 1)
        self.assertEqual(len(self.problems(file_length, {"scripts/test": "\n" * 601})), 1)


class ExportedSymbolsTest(unittest.TestCase):
    def test_names(self):
        self.assertEqual(exported_symbols.check(["isthmus_version"]), [])
        self.assertEqual(len(exported_symbols.check(["isthmus_version", "_ZN7isthmus6StatusC1Ev"])), 1)

    def test_a_library_without_an_interface_fails(self):
        self.assertEqual(len(exported_symbols.check([])), 1)

    def test_symbols_are_read_from_a_library(self):
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/libx.so"
            source = "int isthmus_a(void) { return 0; } int other(void) { return 0; }"
            subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "-"], input=source, text=True, check=True)
            self.assertEqual(exported_symbols.check(exported_symbols.exported(library, "nm")), ["exports other"])


class PublicHeadersTest(unittest.TestCase):
    def problems(self, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.h").write_text(text)
            return public_headers.check([pathlib.Path(folder)], "cc", "c++")

    def test_headers(self):
        good = "#ifndef A_H\n#define A_H\n#include <stddef.h>\nstruct a { size_t n; };\n#endif\n"
        self.assertEqual(self.problems(good), [])
        self.assertEqual(len(self.problems("#pragma once\nstruct a { size_t n; };\n")), 3, "needs another header")
        self.assertEqual(len(self.problems("struct a { int n; };\n")), 3, "has no guard")
        self.assertEqual(len(self.problems("#ifndef A_H\n#define A_H\nint a(int new);\n#endif\n")), 2, "no C++")

    def test_no_header_at_all_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(public_headers.check([pathlib.Path(folder)], "cc", "c++")), 1)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
