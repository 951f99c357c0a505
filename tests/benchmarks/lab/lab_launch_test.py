"""What the lab starts and how it ends: environment, output, exit statuses, signals, deadlines."""

import re
import signal
import subprocess
import tempfile
import time
import unittest

from lab_support import BackgroundLab, lab_command, main, run_lab, run_script


class Launch(unittest.TestCase):
    def test_every_rank_has_the_environment_of_torchrun_and_its_site(self):
        names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT ISTHMUS_SITE"
        script = "echo " + " ".join(f"${name}" for name in names.split())
        done = run_script("--sites", "3", "--ranks-per-site", "2", script=script)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = []
        for rank in range(6):
            site = "abc"[rank // 2]
            expected.append(f"[{site}.r{rank}] {rank} 6 {rank % 2} 2 10.77.0.1 29500 {site}")
        self.assertEqual(sorted(done.stdout.splitlines()), expected)

    def test_flat_is_the_same_ranks_in_one_site(self):
        done = run_script(
            "--sites",
            "3",
            "--ranks-per-site",
            "2",
            "--flat",
            script="echo $RANK $WORLD_SIZE $LOCAL_RANK $ISTHMUS_SITE $(readlink /proc/self/ns/net)",
        )
        lines = [line.split() for line in sorted(done.stdout.splitlines())]
        self.assertEqual([line[1:5] for line in lines], [[str(rank), "6", str(rank), "a"] for rank in range(6)])
        self.assertEqual(len({line[5] for line in lines}), 1)

    def test_a_topology_file_gives_names_and_ranks(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[[site]]\nname = "oslo"\nranks = 2\n[[site]]\nname = "rome"\n')
            file.flush()
            done = run_script("--topology", file.name, script="echo $RANK $LOCAL_WORLD_SIZE")
            self.assertEqual(sorted(done.stdout.splitlines()), ["[oslo.r0] 0 2", "[oslo.r1] 1 2", "[rome.r2] 2 1"])
            file.write("mtu = 5\n")
            file.flush()
            done = run_script("--topology", file.name, script="true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{file.name}:6: site[1].mtu", done.stderr)

    def test_output_keeps_its_streams_and_unfinished_lines(self):
        done = run_script("--sites", "2", "--quiet", script="echo out; echo err >&2; printf unfinished")
        self.assertEqual(
            sorted(done.stdout.splitlines()), ["[a.r0] out", "[a.r0] unfinished", "[b.r1] out", "[b.r1] unfinished"]
        )
        self.assertEqual(sorted(done.stderr.splitlines()), ["[a.r0] err", "[b.r1] err"])

    def test_host_names(self):
        script = "echo name $(hostname); getent ahostsv4 $(hostname) | head -1; getent ahostsv4 b | head -1"
        done = run_script("--sites", "2", script=script)
        plain = done.stdout
        if "cannot be mounted over" in done.stderr:
            self.skipTest("/etc/hosts cannot be mounted over on this machine")
        self.assertIn("[b.r1] name b", plain)
        self.assertIn("[a.r0] 10.77.0.1", plain)
        debian = run_script("--sites", "2", "--loopback-hostname", script=script).stdout
        self.assertIn("[a.r0] 127.0.1.1", debian)
        self.assertIn("[a.r0] 10.77.1.1", debian)
        self.assertIn("[b.r1] 127.0.1.1", debian)
        self.assertNotIn("10.77.0.1", debian)

    def test_sites_share_no_memory(self):
        script = "echo x > /dev/shm/lab-launch-test-$ISTHMUS_SITE; sleep 1; ls /dev/shm | grep lab-launch-test"
        done = run_script("--sites", "2", script=script)
        self.assertEqual(
            sorted(done.stdout.splitlines()), ["[a.r0] lab-launch-test-a", "[b.r1] lab-launch-test-b"], done.stderr
        )


class End(unittest.TestCase):
    def test_the_first_failure_gives_the_status(self):
        self.assertEqual(run_script("--sites", "3", script="exit $((RANK == 1 ? 7 : 0))").returncode, 7)
        self.assertEqual(run_script("--sites", "2", script="[ $RANK = 0 ] || kill -KILL $$").returncode, 137)
        script = "[ $RANK = 0 ] && exit 3; sleep 1; exit 4"
        self.assertEqual(run_script("--sites", "2", script=script).returncode, 3)

    def test_a_command_that_is_not_there(self):
        done = run_lab("--sites", "1", command=["no-such-command"])
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot run 'no-such-command'", done.stderr)

    def test_others_have_the_grace_and_are_ended_then(self):
        script = "[ $RANK = 0 ] && exit 3; trap 'echo told; exit 0' TERM; sleep 60 & wait"
        start = time.monotonic()
        done = run_script("--sites", "2", "--grace", "2s", script=script)
        self.assertEqual(done.returncode, 3)
        self.assertIn("[b.r1] told", done.stdout)
        self.assertIn("rank 0 (site a) failed with status 3", done.stderr)
        self.assertGreater(time.monotonic() - start, 2)
        self.assertLess(time.monotonic() - start, 20)

    def test_one_that_does_not_listen_is_killed(self):
        script = "[ $RANK = 0 ] && exit 3; trap '' TERM; while :; do sleep 1; done"
        start = time.monotonic()
        self.assertEqual(run_script("--sites", "2", "--grace", "0s", script=script).returncode, 3)
        self.assertLess(time.monotonic() - start, 30)

    def test_timeout(self):
        done = subprocess.run(
            lab_command("--sites", "2", "--timeout", "1s", command=["sleep", "60"]),
            capture_output=True,
            text=True,
            timeout=30,
        )
        self.assertEqual(done.returncode, 124)
        self.assertIn("ended after --timeout 1s", done.stderr)

    def test_signals_reach_every_rank(self):
        script = "trap 'echo usr1' USR1; trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.1; done"
        with BackgroundLab("--sites", "2", "--ranks-per-site", "2", script=script, name="test-signals") as lab:
            lab.wait_for("ready", 4)
            lab.process.send_signal(signal.SIGUSR1)
            lab.wait_for("usr1", 4)
            lab.process.send_signal(signal.SIGTERM)
            self.assertEqual(lab.process.wait(20), 5)
            self.assertEqual(lab.text().count("term"), 4)

    def test_a_second_interrupt_kills(self):
        script = "trap '' INT TERM; echo ready; while :; do sleep 0.1; done"
        with BackgroundLab("--sites", "2", script=script, name="test-interrupt") as lab:
            lab.wait_for("ready", 2)
            lab.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            self.assertIsNone(lab.process.poll())
            lab.process.send_signal(signal.SIGINT)
            self.assertEqual(lab.process.wait(20), 137)

    def test_bad_options(self):
        done = run_script("--rate", "fast", script="true")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, re.compile("--rate: 'fast' .* 8kbit to 100gbit"))


if __name__ == "__main__":
    main()
