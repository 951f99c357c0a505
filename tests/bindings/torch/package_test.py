"""The Python package: import in any order, loading by entry point, information, launch by torchrun."""

import os
import pathlib
import subprocess
import sys
import tomllib

import isthmus
import pytest
from isthmus import _extension

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def python(code, *arguments, **environment):
    command = [sys.executable, *arguments, *(["-c", code] if code else [])]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, env=os.environ | environment)


def assert_prints(done, expected):
    assert done.returncode == 0 and done.stdout.strip() == expected, done.stdout + done.stderr


@pytest.mark.parametrize("first", ["isthmus", "torch", "torch.distributed"])
def test_import_in_any_order_registers_once(first):
    code = f"""
import {first}, isthmus, torch.distributed as dist
for _ in range(2):
    isthmus._autoload()
print(dist.Backend.backend_list.count("isthmus"), dist.Backend.backend_capability["isthmus"], dist.Backend.ISTHMUS,
      dist.Backend.default_device_backend_map["cpu"])
"""
    assert_prints(python(code), "1 ['cpu', 'cuda'] isthmus gloo")


def test_autoload_by_entry_point(tmp_path):
    """A distribution that has nothing but the project's entry points: `import torch` alone registers the backend."""
    groups = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    information = tmp_path / "isthmus_entry_points-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: isthmus-entry-points\nVersion: 1\n")
    (information / "entry_points.txt").write_text("\n".join(lines))
    path = f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}"
    code = """
import sys, torch, torch.distributed as dist
print("isthmus" in dist.Backend.backend_list, any(name.startswith("isthmus._torch_") for name in sys.modules))
"""
    assert_prints(python(code, PYTHONPATH=path), "True False")
    one_rank = """
import torch, torch.distributed as dist
dist.init_process_group("isthmus", store=dist.HashStore(), rank=0, world_size=1)
tensor = torch.ones(2)
dist.all_reduce(tensor)
print(tensor.tolist())
"""
    assert_prints(python(one_rank, PYTHONPATH=path), "[1.0, 1.0]")


def test_options_of_a_group():
    code = """
import copy, datetime, pickle, isthmus, torch, torch.distributed as dist
seconds = lambda value: datetime.timedelta(seconds=value)
options = isthmus.Options(connect_timeout=seconds(7), priority=3)
for again in (pickle.loads(pickle.dumps(options)), copy.copy(options), copy.deepcopy(options)):
    assert again.connect_timeout == seconds(7) and again._timeout == seconds(1800) and again.priority == 3
assert b"_torch_" not in pickle.dumps(options)
dist.init_process_group("isthmus", store=dist.HashStore(), rank=0, world_size=1, timeout=seconds(9), pg_options=options)
mine = dist.group.WORLD._get_backend(torch.device("cpu")).options
print(mine._timeout, mine.connect_timeout, options._timeout, mine.backend, list(mine.global_ranks_in_group))
try:
    dist.new_group(pg_options={})
except TypeError as error:
    print(error)
"""
    expected = "0:00:09 0:00:07 0:30:00 isthmus []\nisthmus: pg_options must be isthmus.Options, got dict"
    assert_prints(python(code), expected)


def test_no_other_backend_hides_in_the_module():
    """Nothing may fall back: the module does not even refer to a backend of torch's own."""
    code = pathlib.Path(_extension.load().__file__).read_bytes()
    assert b"ProcessGroupIsthmus" in code
    for other in (b"ProcessGroupGloo", b"ProcessGroupNCCL", b"ProcessGroupMPI", b"ProcessGroupUCC"):
        assert other not in code, other


def test_store_written_in_python():
    """Has no clone(), and takes the GIL in every call."""
    code = """
import datetime, isthmus, torch, torch.distributed as dist

class Table(dist.Store):
    def __init__(self):
        super().__init__()
        self.table, self.calls = {}, set()
    def set(self, key, value):
        self.calls.add("set")
        self.table[key] = value
    def get(self, key):
        self.calls.add("get")
        return self.table[key]
    def add(self, key, value):
        self.table[key] = str(int(self.table.get(key, "0")) + value)
        return int(self.table[key])
    def check(self, keys):
        return all(key in self.table for key in keys)
    def wait(self, keys, timeout=datetime.timedelta(seconds=1)):
        if not self.check(keys):
            raise RuntimeError("timeout")
    def delete_key(self, key):
        return self.table.pop(key, None) is not None

store = Table()
group = isthmus.ProcessGroupIsthmus(store, 0, 1, isthmus.Options())
tensor = torch.ones(2)
group.allreduce([tensor]).wait()
print(tensor.tolist(), sorted(store.calls))
group.shutdown()
"""
    assert_prints(python(code), "[1.0, 1.0] ['get', 'set']")


def test_information():
    version = isthmus.__version__
    assert f"project(isthmus VERSION {version} " in (SOURCE / "CMakeLists.txt").read_text()
    names = [row.name for row in isthmus.options()]
    assert {"site", "chunk_bytes", "timeout_ms"} <= set(names) and len(names) == len(set(names))
    assert all(row.variable == f"ISTHMUS_{row.name.upper()}" and row.description for row in isthmus.options())
    assert set(isthmus.counters().values()) == {0}
    done = python(None, "-m", "isthmus.info")
    assert done.returncode == 0 and f"isthmus {version}" in done.stdout, done.stderr
    assert all(row.variable in done.stdout for row in isthmus.options())
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        isthmus.nonsense  # noqa: B018


def test_another_torch_is_refused_with_what_to_do():
    code = """
import torch
torch.__version__ = "9.9.0"
import isthmus
isthmus.options()
"""
    done = python(code)
    assert done.returncode != 0 and "no extension module for torch 9.9.0" in done.stderr
    assert "built for torch 2." in done.stderr and "scripts/build" in done.stderr


def test_log_goes_to_standard_error():
    code = """
import torch.distributed as dist
dist.init_process_group("isthmus", store=dist.HashStore(), rank=0, world_size=1)
dist.destroy_process_group()
"""
    assert_prints(python("import isthmus\n" + code, ISTHMUS_LOG_LEVEL="off"), "")
    loud = python("import isthmus\n" + code, ISTHMUS_LOG_LEVEL="debug")
    lines = loud.stderr.splitlines()
    assert loud.returncode == 0 and lines and all(line.startswith("[isthmus][rank 0] ") for line in lines), loud.stderr


def test_torchrun(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("""
import os, isthmus, torch, torch.distributed as dist
os.environ["ISTHMUS_SITE"] = "site" + os.environ["RANK"]
os.environ["ISTHMUS_SECURITY"] = "off"
torch.set_num_threads(1)
dist.init_process_group("isthmus")
tensor = torch.ones(3) * dist.get_rank()
dist.all_reduce(tensor)
assert tensor[0] == 1 and isthmus.sites() == ["site0", "site1"]
dist.destroy_process_group()
open(os.path.join(os.path.dirname(__file__), "done" + os.environ["RANK"]), "w").close()
""")
    arguments = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    done = python(None, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "done0").exists() and (tmp_path / "done1").exists()
