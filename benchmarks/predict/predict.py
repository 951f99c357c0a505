"""Predicted beside measured: runs the same allreduces in `isthmus simulate` and in the lab, and prints both.

The ranks plan from the file that describes the lab, so that both do the same. A prediction is from a start of all ranks
together to the end of the last one, and so is what is measured: from one moment of the clock, the slowest rank's time.
Programs are those beside `isthmus` on PATH, or of CLI_PROGRAM, LAB_PROGRAM and BENCH_PROGRAM.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
TOPOLOGIES = ("equal", "uneven")
SIZES = {"1KiB": (10, 3), "1MiB": (10, 30), "16MiB": (4, 2)}  # iterations, warm-up
LAB_TIMEOUT_S = 170


def program(variable, *words):
    return [os.environ[variable]] if variable in os.environ else ["isthmus", *words]


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=LAB_TIMEOUT_S + 20, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def predict(topology, size):
    words = program("CLI_PROGRAM") + ["simulate", str(topology), "--op", "allreduce", "--size", size, "--json"]
    return json.loads(run(words))


def measure(topology, size):
    iterations, warm_up = SIZES[size]
    bench = program("BENCH_PROGRAM", "bench") + [
        "allreduce",
        "--size",
        size,
        "--iters",
        str(iterations),
        "--warmup",
        str(warm_up),
        "--start",
        "clock",
        "--json",
    ]
    lab = program("LAB_PROGRAM", "lab") + ["--quiet", "--timeout", f"{LAB_TIMEOUT_S}s", "--topology", str(topology)]
    output = run([*lab, "--", *bench], env=dict(os.environ, ISTHMUS_SITES_FILE=str(topology)))
    line = next(line for line in output.splitlines() if '"case"' in line)
    return json.loads(line[line.index("{") :])


def compare(names=TOPOLOGIES, sizes=tuple(SIZES)):
    """Yields topology, size, algorithm, predicted ms, measured ms, bound ms."""
    for name in names:
        topology = FOLDER / f"{name}.toml"
        for size in sizes:
            predicted, measured = predict(topology, size), measure(topology, size)
            if measured["wrong"]:
                raise RuntimeError(f"{name} {size}: {measured['wrong']} wrong elements")
            yield (
                name,
                size,
                predicted["algorithm"],
                predicted["predicted_ms"],
                measured["time_us_slowest_p50"] / 1000,
                predicted["bound_ms"],
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topology", choices=TOPOLOGIES, action="append", help="all, if not given")
    parser.add_argument("--size", choices=tuple(SIZES), action="append", help="all, if not given")
    arguments = parser.parse_args()
    print(f"{'topology':<9} {'size':>6} {'algorithm':<9} {'predicted':>12} {'measured':>12} {'ratio':>6} {'bound':>12}")
    for name, size, algorithm, predicted, measured, bound in compare(
        arguments.topology or TOPOLOGIES, arguments.size or tuple(SIZES)
    ):
        ratio = predicted / measured
        print(
            f"{name:<9} {size:>6} {algorithm:<9} {predicted:>9.1f} ms {measured:>9.1f} ms {ratio:>6.3f} "
            f"{bound:>9.1f} ms",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
