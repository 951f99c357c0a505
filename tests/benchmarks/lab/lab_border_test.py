"""Filters, NAT and caps of flows, with real TCP over them: WA-02, NW-10 and NW-11 need them."""

import json
import pathlib
import sys
import tempfile
import unittest

from lab_support import BackgroundLab, ctl, main, pair_of, run_with_stats, wait_until

# Rank 0 tries to connect to each address; rank 1 listens and says who came.
CONNECT = """
import os, socket, threading, time
targets = {targets}
# A server that does not listen yet refuses; silence is another matter.
def connect(target, timeout):
    end = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(target, timeout=timeout)
        except ConnectionRefusedError:
            if time.monotonic() > end: raise
            time.sleep(0.05)
if os.environ["RANK"] == "1":
    def serve(port):
        with socket.create_server(("10.77.1.1", port)) as server:
            server.settimeout(8)
            try:
                peer, address = server.accept()
            except TimeoutError:
                return print("nobody at", port, flush=True)
            peer.sendall(b"x" * 100000)
            print("at", port, "came", address[0], flush=True)
    threads = [threading.Thread(target=serve, args=(port,)) for port in {ports}]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    back = connect(("10.77.0.1", 7000), 5)
    print("back came", back.recv(100).decode(), flush=True)
else:
    for host, port in targets:
        try:
            peer = connect((host, port), 2)
            count = 0
            while data := peer.recv(65536): count += len(data)
            print("got", count, "from", host, port, flush=True)
        except TimeoutError:
            print("silence from", host, port, flush=True)
    with socket.create_server(("10.77.0.1", 7000)) as server:
        server.settimeout(20)
        peer, address = server.accept()
        peer.sendall(address[0].encode())
        peer.close()
"""

# Four connections from rank 0 to rank 1, each as fast as it can.
FLOWS = """
import os, socket, threading, time
if os.environ["RANK"] == "1":
    def drain(peer):
        while peer.recv(1 << 20): pass
    with socket.create_server(("10.77.1.1", 5000)) as server:
        for _ in range(4): threading.Thread(target=drain, args=(server.accept()[0],)).start()
else:
    print("ready", flush=True)
    time.sleep(0.5)
    def fill():
        peer = socket.create_connection(("10.77.1.1", 5000))
        end = time.monotonic() + 12
        while time.monotonic() < end: peer.sendall(bytes(65536))
    for _ in range(4): threading.Thread(target=fill).start()
"""


def run_with_topology(toml, program):
    with tempfile.TemporaryDirectory() as folder:
        topology, script = pathlib.Path(folder) / "lab.toml", pathlib.Path(folder) / "program.py"
        topology.write_text(toml)
        script.write_text(program)
        return run_with_stats("--rtt", "10ms", "--topology", str(topology), script=f"exec {sys.executable} {script}")


class Border(unittest.TestCase):
    def test_NW_10_a_filter_lets_connections_in_at_its_ports(self):
        done, stats = run_with_topology(
            '[[site]]\n[[site]]\ninbound_ports = "40000-40050"\n',
            CONNECT.format(targets=[("10.77.1.1", 40007), ("10.77.1.1", 39000)], ports=[40007, 39000]),
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("got 100000 from 10.77.1.1 40007", done.stdout)
        self.assertIn("silence from 10.77.1.1 39000", done.stdout)
        self.assertIn("nobody at 39000", done.stdout)
        self.assertIn("back came 10.77.1.1", done.stdout)  # from inside out, all is open
        self.assertGreaterEqual(pair_of(stats, "a", "b")["filtered_packets"], 1)
        self.assertEqual(pair_of(stats, "b", "a")["filtered_packets"], 0)

    def test_NW_11_nat_hides_a_site_but_for_forwarded_ports(self):
        done, stats = run_with_topology(
            '[[site]]\n[[site]]\nnat = true\nnat_forward = ["40000-40050", "8000:9000"]\n',
            CONNECT.format(
                targets=[("10.78.1.1", 40007), ("10.78.1.1", 8000), ("10.78.1.1", 39000), ("10.77.1.1", 40008)],
                ports=[40007, 9000, 39000, 40008],
            ),
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("got 100000 from 10.78.1.1 40007", done.stdout)
        self.assertIn("got 100000 from 10.78.1.1 8000", done.stdout)
        self.assertIn("at 9000 came 10.77.0.1", done.stdout)
        self.assertIn("silence from 10.78.1.1 39000", done.stdout)
        self.assertIn("silence from 10.77.1.1 40008", done.stdout)
        self.assertIn("back came 10.78.1.1", done.stdout)
        self.assertGreaterEqual(pair_of(stats, "a", "b")["filtered_packets"], 2)


class Flows(unittest.TestCase):
    def flows(self, lab):
        done = ctl(lab.name, "flows", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_WA_02_one_flow_is_capped_and_the_others_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "flows.py"
            script.write_text(FLOWS)
            with BackgroundLab("--rate", "40mbit", "--rtt", "20ms", script=f"exec {sys.executable} {script}",
                               name="test-flows") as lab:  # fmt: skip
                lab.wait_for("ready")
                wait_until(lambda: len(self.flows(lab)) == 4, 20, "four flows")
                self.assertEqual(ctl(lab.name, "flow-cap", "2", "1mbit").returncode, 0)
                before = self.flows(lab)
                self.assertEqual([flow["cap_bits_per_sec"] for flow in before], [None, None, 1000000, None])
                wait_until(lambda: self.flows(lab)[0]["sent_bytes"] > before[0]["sent_bytes"] + 3_000_000, 30, "3 MB")
                moved = [b["sent_bytes"] - a["sent_bytes"] for a, b in zip(before, self.flows(lab), strict=True)]
                print(f"bytes meanwhile: {moved}")
                self.assertLess(moved[2], 0.5 * min(moved[:2] + moved[3:]))
                done = ctl(lab.name, "flow-cap", "9", "1mbit")
                self.assertIn("'9' is not a flow: `ctl flows` lists 4", done.stderr)


if __name__ == "__main__":
    main()
