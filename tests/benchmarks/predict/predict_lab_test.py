"""The simulator against the lab: allreduces predicted and measured, four sites, three sizes, two topologies."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "benchmarks" / "predict"), str(ROOT / "tests" / "benchmarks" / "lab")]

import lab_support  # noqa: E402
import predict  # noqa: E402

# The aim is 0.1; beyond this the model is wrong, and not only the machine busy.
LARGEST_ERROR = 0.25
# Printed only. Of 1 KiB the ranks' different starts after the barrier are a third; of 1 MiB the lines are busy for so
# few round trips that their start counts, which the model leaves out.
NOT_CHECKED = {("uneven", "1KiB"), ("uneven", "1MiB")}


class PredictedAndMeasured(unittest.TestCase):
    def test_predictions_hold_in_the_lab(self):
        for name, size, algorithm, predicted, measured, bound in predict.compare():
            print(
                f"{name} {size} {algorithm}: {predicted:.1f} ms predicted, {measured:.1f} ms measured, "
                f"bound {bound:.1f} ms",
                flush=True,
            )
            if (name, size) in NOT_CHECKED:
                continue
            with self.subTest(topology=name, size=size):
                self.assertLess(abs(predicted / measured - 1), LARGEST_ERROR)


if __name__ == "__main__":
    lab_support.main()
