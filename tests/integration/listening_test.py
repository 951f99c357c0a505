"""What a job listens on. SE-02: a job on one host: loopback only; with an interface set: nothing else. EL-06: a process
that is started again listens at the ports of its plan."""

import signal
import unittest

import rank_support


class Listening(unittest.TestCase):
    transport = "libfabric"
    first_port = 40100

    def hosts_of_job(self, sites, environment=None):
        environment = dict(environment or {}, ISTHMUS_TRANSPORT=self.transport)
        processes = rank_support.start_ranks(["hold", "60"], sites, environment)
        try:
            for process in processes:
                rank_support.wait_for_line(process, "ready")
            return [rank_support.listening_addresses(process.pid) for process in processes]
        finally:
            rank_support.stop(processes)

    def test_SE_02_one_host_is_loopback_only(self):
        for rank, hosts in enumerate(self.hosts_of_job(["a", "a", "b"])):
            self.assertGreaterEqual(len(hosts), 2, f"rank {rank} listens for control and data")
            self.assertEqual(set(hosts), {"127.0.0.1"})

    def test_SE_02_an_interface_that_is_set_is_the_only_one(self):
        for hosts in self.hosts_of_job(["a", "b"], {"ISTHMUS_WAN_INTERFACE": "lo"}):
            self.assertTrue(hosts)
            self.assertLessEqual(set(hosts), {"127.0.0.1", "::1"})

    def test_EL_06_a_restarted_process_takes_its_two_ports_again(self):
        plans = [{port, port + 1} for port in range(self.first_port, self.first_port + 6, 2)]
        own = [{"ISTHMUS_PORT_RANGE": f"{min(ports)}-{max(ports)}"} for ports in plans]
        environment = {
            "ISTHMUS_TRANSPORT": self.transport,
            "ISTHMUS_LINK_GRACE_MS": "4000",
            "ISTHMUS_CONNECT_TIMEOUT_MS": "90000",
        }
        sites = ["a", "b", "c"]
        victims = rank_support.start_ranks(["loop", "1"], sites, environment, own)
        outputs = [process.communicate(timeout=60)[0] for process in victims]
        self.assertEqual([process.returncode for process in victims], [3, -signal.SIGKILL, 3], outputs)
        processes = rank_support.start_ranks(["hold", "60"], sites, environment, own)
        try:
            for process, ports in zip(processes, plans, strict=True):
                rank_support.wait_for_line(process, "ready", limit_s=90)  # UCX waits for TIME_WAIT to end
                listening = {port for _, port in rank_support.listening_sockets(process.pid)}
                self.assertEqual(listening & set.union(*plans), ports)
        finally:
            rank_support.stop(processes)

    def test_NW_14_a_missing_interface_is_an_error_that_lists_the_others(self):
        processes = rank_support.start_ranks(["hold", "1"], ["a", "b"], {"ISTHMUS_WAN_INTERFACE": "eno77"})
        for process in processes:
            output, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, output)
            self.assertIn("eno77", output)
            self.assertIn("lo 127.0.0.1", output)

    def test_ranks_without_a_site_are_named(self):
        processes = rank_support.start_ranks(["hold", "1"], ["a", "", "b"])
        for process in processes:
            output, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, output)
            self.assertIn("rank 1", output)
            self.assertIn("ISTHMUS_SITE", output)


class ListeningOverUcx(Listening):
    transport = "ucx"
    first_port = 40110

    def test_SE_02_an_interface_that_is_set_is_the_only_one(self):
        """lo has ::1 too, at which UCX 1.13 does not listen (the error says what to do), and 1.18 does."""
        environment = {"ISTHMUS_WAN_INTERFACE": "lo", "ISTHMUS_TRANSPORT": "ucx"}
        processes = rank_support.start_ranks(["hold", "1"], ["a", "b"], environment)
        outputs = [process.communicate(timeout=60)[0] for process in processes]
        if all(process.returncode == 0 for process in processes):
            return super().test_SE_02_an_interface_that_is_set_is_the_only_one()
        for process, output in zip(processes, outputs, strict=True):
            self.assertEqual(process.returncode, 1, output)
            self.assertIn("transport=libfabric", output)


if __name__ == "__main__":
    unittest.main()
