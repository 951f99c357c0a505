"""WA-04: one very large buffer, and very many small ones. Neither needs a setting, nor memory that grows with it."""

import re
import unittest

import rank_support


class Sizes(unittest.TestCase):
    transport = "libfabric"

    def run_ranks(self, words, sites):
        processes = rank_support.start_ranks(words, sites, {"ISTHMUS_TRANSPORT": self.transport})
        try:
            outputs = [process.communicate(timeout=150)[0] for process in processes]
        finally:
            rank_support.stop(processes)
        for process, output in zip(processes, outputs, strict=True):
            self.assertEqual(process.returncode, 0, output)
        return outputs

    def test_WA_04_700_megabytes_take_bounded_memory(self):
        for output in self.run_ranks(["allreduce", str(175_000_000)], ["a", "b"]):
            (memory_kib,) = re.findall(r"memory_kib (\d+)", output)
            print(f"700 MB took {int(memory_kib) / 1024:.0f} MiB more")
            # Scratch of two parts (128 MiB), their schedules, and what two links of four lanes hold.
            self.assertLess(int(memory_kib), 256 * 1024)

    def test_WA_04_ten_thousand_kilobytes(self):
        self.run_ranks(["many", "10000"], ["a", "a", "b"])


if __name__ == "__main__":
    unittest.main()
