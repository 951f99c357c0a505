"""isthmus bench as processes of this host: what it prints, and when it refuses to run (BM-02)."""

import json
import os
import socket
import subprocess
import unittest

PROGRAM = os.environ["CLI_PROGRAM"]
LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "OMPI_COMM_WORLD_RANK",
             "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID",
             "SLURM_NTASKS")  # fmt: skip
FIELDS = {
    "case", "size_bytes", "count", "dtype", "op", "ranks", "sites", "time_us_min", "time_us_p50", "time_us_p99",
    "algbw_bytes_per_sec", "busbw_bytes_per_sec", "wrong", "transport", "lanes", "congestion", "together", "gap_us",
    "hosts", "launcher",
}  # fmt: skip


def environment(**variables):
    return {name: value for name, value in os.environ.items() if name not in LAUNCHERS} | variables


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run_ranks(count, *words, names=("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"), **variables):
    """The finished ranks, each with returncode, stdout and stderr."""
    rank_name, size_name, local_name = names
    common = {size_name: str(count), local_name: str(count), "MASTER_PORT": free_port()} | variables
    ranks = [
        subprocess.Popen([PROGRAM, "bench", *words], env=environment(**common, **{rank_name: str(rank)}), text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for rank in range(count)
    ]  # fmt: skip
    done = []
    for rank in ranks:
        try:
            out, err = rank.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            rank.kill()
            out, err = rank.communicate()
        done.append(subprocess.CompletedProcess(rank.args, rank.returncode, out, err))
    return done


class Bench(unittest.TestCase):
    def measure(self, count, *words, **variables):
        done = run_ranks(count, *words, "--json", **variables)
        for rank in done:
            self.assertEqual(rank.returncode, 0, rank.stdout + rank.stderr)
        self.assertEqual([rank.stdout for rank in done[1:]], [""] * (count - 1))
        return [json.loads(line) for line in done[0].stdout.splitlines()]

    def measure_two_sites(self, *words, **variables):
        """Sites of one host, joined by links rather than shared memory: lanes are read back."""
        rows = []
        port = free_port()
        ranks = [
            subprocess.Popen([PROGRAM, "bench", "allreduce", *words, "--json"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True,
                             env=environment(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                                             ISTHMUS_SITE=f"s{rank}", ISTHMUS_SECURITY="off", **variables))
            for rank in range(2)
        ]  # fmt: skip
        for rank in ranks:
            out, err = rank.communicate(timeout=60)
            self.assertEqual(rank.returncode, 0, out + err)
            rows += [json.loads(line) for line in out.splitlines()]
        return rows

    def test_wan_lanes_is_the_number_of_connections(self):
        for lanes in (1, 2, 3, 5):
            with self.subTest(lanes):
                (row,) = self.measure_two_sites("--size", "1MiB", "--iters", "20", ISTHMUS_WAN_LANES=str(lanes))
                self.assertEqual((row["lanes"], row["wrong"]), (lanes, 0))

    def test_json_of_a_sweep_between_two_sites(self):
        rows = self.measure_two_sites("--min", "64K", "--max", "256K", "--factor", "4", "--iters", "3")
        self.assertEqual([row["size_bytes"] for row in rows], [65536, 262144])
        for row in rows:
            self.assertLessEqual(FIELDS, set(row))
            self.assertEqual((row["ranks"], row["sites"], row["wrong"], row["op"]), (2, 2, 0, "sum"))
            self.assertGreaterEqual(row["lanes"], 1)
            self.assertTrue(row["congestion"])
            self.assertAlmostEqual(
                row["algbw_bytes_per_sec"],
                row["size_bytes"] / row["time_us_p50"] * 1e6,
                delta=0.01 * row["algbw_bytes_per_sec"],
            )
            self.assertGreaterEqual(row["wan_sent_bytes"], 3 * 2 * row["size_bytes"])

    def test_every_case_with_the_variables_of_mpirun(self):
        names = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
        for case in ("allreduce", "broadcast", "allgather", "reduce_scatter", "sendrecv", "pingpong", "stream",
                     "barrier"):  # fmt: skip
            with self.subTest(case):
                rows = self.measure(2, case, "--size", "100kB", "--iters", "3", "--check-all", names=names)
                self.assertEqual([(row["case"], row["wrong"]) for row in rows], [(case, 0)])
                self.assertEqual(rows[0]["launcher"], "OMPI_COMM_WORLD_RANK/OMPI_COMM_WORLD_SIZE")

    def test_iterations_begin_back_to_back_after_a_barrier_or_by_the_clock(self):
        for start in ("back-to-back", "barrier", "clock"):
            with self.subTest(start):
                (row,) = self.measure_two_sites("--size", "64KiB", "--iters", "5", "--start", start)
                self.assertEqual((row["start"], row["wrong"]), (start, 0))

    def test_the_table_names_world_and_hosts(self):
        done = run_ranks(2, "allreduce", "--size", "4K", "--iters", "2", "--together", "10")
        self.assertEqual(done[0].returncode, 0, done[0].stderr)
        self.assertIn("2 ranks, 1 sites, 1 hosts", done[0].stdout)
        self.assertIn(f"host {socket.gethostname()[:64]}", done[0].stdout)
        self.assertRegex(done[0].stdout, r"\n +4KiB +1024 +fp32 +sum ")

    def test_BM_02_a_lone_process_is_refused(self):
        done = subprocess.run([PROGRAM, "bench", "allreduce"], env=environment(), text=True, capture_output=True,
                              timeout=30)  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no launcher", done.stderr)

    def test_BM_02_a_world_of_another_size_is_refused(self):
        (done,) = run_ranks(1, "allreduce", "--expect-ranks", "4", MASTER_ADDR="127.0.0.1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("4 ranks are expected, but the world has 1", done.stderr)

    def test_a_rank_that_does_not_come_is_an_error(self):
        done = subprocess.run([PROGRAM, "bench", "allreduce"], text=True, capture_output=True, timeout=30,
                              env=environment(RANK="0", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                                              MASTER_PORT=free_port(), ISTHMUS_CONNECT_TIMEOUT_MS="1000"))  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("rank 1", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
