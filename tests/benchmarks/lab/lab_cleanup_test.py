"""Nothing is left: not after a normal end, not when the lab or the parent of its ranks is killed."""

import os
import pathlib
import signal
import subprocess
import unittest

from lab_support import IS_ROOT, LAB, BackgroundLab, main, marked_processes, namespace_is_gone, run_script, wait_until

ALLOWED = pathlib.Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
AVAILABLE = pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
BASE = pathlib.Path("/run/isthmus-lab" if IS_ROOT else f"/tmp/isthmus-lab-{os.getuid()}")

# Each rank leaves its session and its parent behind, as a daemon would.
SCRIPT = """
setsid sh -c 'while :; do sleep 1; done' &
echo ready $(readlink /proc/self/ns/net)
while :; do sleep 1; done
"""


def namespaces_of(lab):
    return {word for line in lab.text().splitlines() for word in line.split() if word.startswith("net:[")}


def running_labs():
    return subprocess.run([LAB, "ctl", "list"], capture_output=True, text=True, timeout=20).stdout.split()


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[1])


class CleanUp(unittest.TestCase):
    def check_gone(self, lab, namespaces):
        self.assertEqual(len(namespaces), 2)
        wait_until(lambda: not marked_processes(lab.name), 10, "no process with the mark")
        wait_until(lambda: all(map(namespace_is_gone, namespaces)), 10, "no process in the namespaces")

    def test_a_normal_end_leaves_nothing(self):
        done = run_script(
            "--name", "test-end", "--sites", "2", script="setsid sleep 60 & echo ready $(readlink /proc/self/ns/net)"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(marked_processes("test-end"), [])
        self.assertFalse((BASE / "test-end").exists())

    def test_sigkill_of_the_lab(self):
        with BackgroundLab("--sites", "2", script=SCRIPT, name="test-kill") as lab:
            lab.wait_for("ready", 2)
            namespaces = namespaces_of(lab)
            self.assertGreaterEqual(len(marked_processes(lab.name)), 4)
            lab.process.kill()
            lab.process.wait()
            self.check_gone(lab, namespaces)  # at once: the parent of the ranks sees to it
            wait_until(lambda: lab.name not in running_labs(), 10, "the lock of the run is free")
            run_script("--sites", "1", script="true")
            self.assertFalse((BASE / lab.name).exists())

    def test_sigkill_of_the_lab_and_of_the_parent_of_its_ranks(self):
        with BackgroundLab("--sites", "2", script=SCRIPT, name="test-kill-both") as lab:
            lab.wait_for("ready", 2)
            namespaces = namespaces_of(lab)
            guardian = next(
                parent for parent in map(parent_of, marked_processes(lab.name)) if parent_of(parent) == lab.process.pid
            )
            lab.process.send_signal(signal.SIGSTOP)  # so that it cannot see its child's end
            os.kill(guardian, signal.SIGKILL)
            lab.process.kill()
            lab.process.wait()
            wait_until(lambda: lab.name not in running_labs(), 10, "the lock of the run is free")
            run_script("--sites", "1", script="true")
            self.check_gone(lab, namespaces)
            self.assertFalse((BASE / lab.name).exists())

    def test_sigkill_of_the_parent_of_the_ranks(self):
        with BackgroundLab("--sites", "2", script=SCRIPT, name="test-kill-guardian") as lab:
            lab.wait_for("ready", 2)
            namespaces = namespaces_of(lab)
            guardian = next(
                parent for parent in map(parent_of, marked_processes(lab.name)) if parent_of(parent) == lab.process.pid
            )
            os.kill(guardian, signal.SIGKILL)
            self.assertEqual(lab.process.wait(20), 125)
            self.check_gone(lab, namespaces)
            self.assertFalse((BASE / lab.name).exists())

    def test_a_name_is_taken_while_its_lab_runs(self):
        with BackgroundLab("--sites", "1", script="echo ready; sleep 30", name="test-name") as lab:
            lab.wait_for("ready")
            done = run_script("--name", "test-name", "--sites", "1", script="true")
            self.assertEqual(done.returncode, 125)
            self.assertIn("a lab of this name is running", done.stderr)


@unittest.skipUnless(IS_ROOT, "only root may change what congestion control namespaces may take")
class Congestion(unittest.TestCase):
    def setUp(self):
        if "cubic" not in AVAILABLE.read_text().split():
            self.skipTest("this kernel has no cubic")
        self.before = ALLOWED.read_text()
        if "cubic" in self.before.split():
            self.skipTest("this host allows cubic already")

    def test_the_host_is_put_back(self):
        done = run_script(
            "--sites", "2", "--congestion", "cubic", script="cat /proc/sys/net/ipv4/tcp_congestion_control"
        )
        self.assertEqual(sorted(done.stdout.splitlines()), ["[a.r0] cubic", "[b.r1] cubic"])
        self.assertEqual(ALLOWED.read_text(), self.before)

    def test_the_host_is_put_back_by_the_next_start_after_sigkill(self):
        with BackgroundLab("--congestion", "cubic", script=SCRIPT, name="test-congestion") as lab:
            lab.wait_for("ready", 2)
            self.assertIn("cubic", ALLOWED.read_text().split())
            lab.process.kill()
            lab.process.wait()
            wait_until(lambda: not marked_processes(lab.name), 10, "no process with the mark")
            self.assertIn("cubic", ALLOWED.read_text().split())
            run_script("--sites", "1", script="true")
            self.assertEqual(ALLOWED.read_text(), self.before)

    def test_another_lab_keeps_it(self):
        with BackgroundLab("--congestion", "cubic", script="echo ready; sleep 30", name="test-keep") as lab:
            lab.wait_for("ready", 2)
            run_script("--congestion", "cubic", script="true")
            self.assertIn("cubic", ALLOWED.read_text().split())
        self.assertEqual(ALLOWED.read_text(), self.before)


class OtherUser(unittest.TestCase):
    """Without root: user namespaces."""

    @unittest.skipUnless(IS_ROOT, "this whole test runs without root")
    def test_a_user_without_privileges(self):
        inner = (
            f"mount -t tmpfs tmpfs /mnt && mknod -m 666 /mnt/tun c 10 200 && "
            f"mount --bind /mnt/tun /dev/net/tun && cp {LAB} /mnt/lab && chmod 755 /mnt /mnt/lab && cd / && "
            f"exec setpriv --reuid 65534 --regid 65534 --clear-groups /mnt/lab --sites 2 --timeout 30s -- "
            "sh -c 'id -u; ping -c 2 -i 0.3 -w 9 10.77.$((1 - RANK)).1 | grep received'"
        )
        done = subprocess.run(["unshare", "--mount", "sh", "-c", inner], capture_output=True, text=True, timeout=60)
        if "user namespace" in done.stderr or "cannot change root filesystem propagation" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("] 65534"), 2)
        self.assertEqual(done.stdout.count("2 received"), 2, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
