"""The demo: a language model trains over three emulated sites, on Isthmus, without the WAN, and on Gloo.

    .venv/bin/python examples/demo/run.py

Each run starts from the same parameters and sees the same batches. What was measured is printed as a table and written
to out/demo: report.html, curves.png, and per run a log, its measurements and the lab's counts of the wire.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

import plot
import report
from lab import Run, RunFailed, Wan, execute, find_isthmus
from results import Measured

RUNS = [
    Run("isthmus", "Isthmus over the WAN", "isthmus"),
    Run("no-wan", "Isthmus, no WAN", "isthmus", flat=True),
    Run("gloo", "Gloo over the WAN", "gloo"),
]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60, help="of each run, at most (default: %(default)s)")
    parser.add_argument(
        "--budget-seconds",
        type=float,
        default=80,
        help="a run that could not end its steps within this time makes fewer (default: %(default)s)",
    )
    parser.add_argument("--batch-per-rank", type=int, default=16, help="windows of text (default: %(default)s)")
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--ranks-per-site", type=int, default=2)
    parser.add_argument("--rate", default="50mbit", help="of each site's line (default: %(default)s)")
    parser.add_argument("--rtt", default="60ms", help="between sites (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/demo"))
    parser.add_argument("--isthmus", help="the isthmus command (default: beside this Python, else in PATH)")
    parser.add_argument("--only", choices=[run.name for run in RUNS], action="append", help="this run; may be repeated")
    return parser.parse_args()


def run_all(arguments: argparse.Namespace, wan: Wan, out: pathlib.Path) -> list[Measured]:
    isthmus = arguments.isthmus or find_isthmus()
    train_arguments = ["--steps", str(arguments.steps), "--batch-per-rank", str(arguments.batch_per_rank)]
    measured = []
    for run in [run for run in RUNS if not arguments.only or run.name in arguments.only]:
        print(f"\n==> {run.title} ({'all ranks in one site' if run.flat else wan.describe()})", flush=True)
        measured.append(Measured(run, execute(isthmus, run, wan, out, train_arguments, arguments.budget_seconds)))
        print(f"    {run.title}: {measured[-1].wall_seconds:.1f} s", flush=True)
    return measured


def main() -> int:
    arguments = parse_arguments()
    start, out = time.monotonic(), arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    wan = Wan(arguments.sites, arguments.ranks_per_site, arguments.rate, arguments.rtt)
    try:
        measured = run_all(arguments, wan, out)
    except RunFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    plot.write(out / "curves.png", wan, measured)
    report.write_html(out / "report.html", wan, measured, out / "curves.png")
    print(f"\n{report.as_text(wan, measured)}\n\nReport: {out / 'report.html'}\nPicture: {out / 'curves.png'}")
    print(f"The runs and the report took {time.monotonic() - start:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
