"""What the tests of the lab share: running isthmus-lab, and saying why it cannot be run."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LAB = os.environ["LAB_PROGRAM"]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
IS_ROOT = os.geteuid() == 0


def missing_precondition(*programs):
    """The reason why the lab cannot run here, or None."""
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"cannot open /dev/net/tun: {error}"
    for program in programs:
        if shutil.which(program) is None:
            return f"{program} is not installed"
    attempt = ["unshare", "--net", "true"] if IS_ROOT else ["unshare", "--user", "--net", "true"]
    if subprocess.run(attempt, capture_output=True).returncode != 0:
        return "this user may not make network namespaces"
    return None


def lab_command(*options, command):
    return [LAB, *options, "--", *command]


def run_lab(*options, command, timeout=60):
    """Runs to the end; the result has returncode, stdout and stderr."""
    words = lab_command("--timeout", f"{timeout - 15}s", *options, command=command)
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout, cwd=tempfile.gettempdir())


def run_script(*options, script, timeout=60):
    return run_lab(*options, command=["sh", "-c", script], timeout=timeout)


def run_with_stats(*options, script, timeout=60):
    """Also the JSON of the statistics."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "stats.json"
        done = run_script("--stats-json", str(path), *options, script=script, timeout=timeout)
        return done, json.loads(path.read_text()) if path.exists() else None


def pair_of(stats, source, target):
    return next(pair for pair in stats["pairs"] if (pair["from"], pair["to"]) == (source, target))


def ctl(name, *words):
    return subprocess.run([LAB, "ctl", "--name", name, *words], capture_output=True, text=True, timeout=20)


class BackgroundLab:
    """A lab that runs while the test goes on. As a context, it is ended at the end, if it still lives."""

    def __init__(self, *options, script, name, timeout=60):
        self.name = name
        self.log = tempfile.TemporaryFile(mode="w+")
        words = lab_command("--name", name, "--timeout", f"{timeout}s", *options, command=["sh", "-c", script])
        self.process = subprocess.Popen(words, stdout=self.log, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def wait_for(self, text, count=1, seconds=30):
        wait_until(lambda: self.text().count(text) >= count, seconds, f"{count} x '{text}' in:\n{self.text()}")


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def marked_processes(name):
    """The processes, outside the lab itself, that carry the mark of run `name`."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            environment = pathlib.Path("/proc", entry, "environ").read_bytes() if entry.isdigit() else b""
        except OSError:
            continue
        if f"LAB_RUN_MARK={name}-".encode() in environment.replace(b"\0", b"\n"):
            found.append(int(entry))
    return found


def namespace_is_gone(inode):
    """Whether no process is in the network namespace "net:[123]" any more."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/ns/net") == inode:
                return False
        except OSError:
            continue
    return True


def main(*programs):
    reason = missing_precondition(*programs)
    if reason is not None:
        print(f"SKIPPED: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
