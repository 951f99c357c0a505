"""The table and the report of the demo."""

from __future__ import annotations

import base64
import html
import pathlib
from collections.abc import Callable

from lab import Wan
from results import Measured, allreduce_bound_bytes, largest_loss_difference


def rows(wan: Wan, runs: list[Measured]) -> list[list[str]]:
    """The table; its first row is the heading."""
    flat = next((run for run in runs if run.run.flat), None)

    def row(title: str, cell: Callable[[Measured], str]) -> list[str]:
        return [title, *(cell(run) for run in runs)]

    def efficiency(run: Measured) -> str:
        if flat is None:
            return "not run"
        return "100 %" if run is flat else f"{flat.median_step_seconds / run.median_step_seconds:.1%}"

    def wan_bytes(run: Measured) -> str:
        sent = run.wan_bytes_per_step
        return "none" if run.run.flat else "not counted" if sent is None else f"{sent / 1e6:.3f} MB"

    common = min(run.steps for run in runs)
    return [
        row("", lambda run: run.run.title),
        row("steps", lambda run: f"{run.steps} of {run.data['steps_asked']}"),
        row("step time, median", lambda run: f"{run.median_step_seconds:.3f} s"),
        row(
            "step time, 10th to 90th percentile",
            lambda run: " to ".join(f"{run.step_percentile_seconds(percent):.3f}" for percent in (10, 90)) + " s",
        ),
        row("efficiency against no WAN", efficiency),
        row("WAN bytes sent per step and site", wan_bytes),
        row("training loss at the first step", lambda run: f"{run.losses[0]:.3f}"),
        row(f"training loss at step {common}", lambda run: f"{run.losses[common - 1]:.3f}"),
        row("training loss at its last step", lambda run: f"{run.losses[-1]:.3f}"),
        row("held-out loss at its end", lambda run: f"{run.data['held_out_loss']:.3f}"),
        row("time of its steps", lambda run: f"{run.ends_seconds[-1]:.1f} s"),
        row("start, end and the rest", lambda run: f"{run.seconds_beside_steps:.1f} s"),
    ]


def statements(wan: Wan, runs: list[Measured]) -> list[str]:
    """What was run, in sentences."""
    data = runs[0].data
    lines = [
        f"Emulated: {wan.describe()}; for the run without a WAN the same ranks are one site.",
        f"Model: {data['model']}, {data['parameter_count']:,} parameters; gradients of "
        f"{data['gradient_bytes'] / 1e6:.3f} MB (fp32, not compressed), DDP, AdamW, torch {data['torch']}, one thread "
        "per rank; bucket size, model and batches are the same in all runs.",
        f"Text: {data['corpus_bytes']:,} bytes of the standard library's sources (SHA-256 {data['corpus_digest']}...); "
        f"{data['batch_per_rank']} windows of {data['window_bytes']} bytes per rank and step. Losses are in nats per "
        "byte, the mean of all ranks.",
        f"Step times are rank 0's, without the first {data['first_measured_step']} steps. Efficiency is the median "
        "step time without a WAN divided by that of the run.",
        "WAN bytes are what the kernel of each site sent, IP and TCP headers included (mean of the sites). An "
        f"allreduce of the gradients between {wan.sites} sites must send at least "
        f"{allreduce_bound_bytes(runs[0], wan.sites) / 1e6:.3f} MB per site: computed, not measured.",
    ]
    for run in runs:
        if not run.run.flat:
            lines.append(
                f"{run.run.title}: TCP with {run.lab['congestion_control']}; over the whole run, its start included, "
                f"the emulator carried {run.carried_bytes / 1e6:.1f} MB, was at most {run.lab['latest_ms']:.1f} ms "
                f"late and lost {run.lab['emulator_dropped_packets']} packets by itself."
            )
        if run.was_cut_short:
            lines.append(
                f"{run.run.title} made {run.steps} of {run.data['steps_asked']} steps: more did not fit into its "
                f"{run.data['budget_seconds']:g} s. Its final losses are those of fewer steps."
            )
    for run in runs[1:]:
        difference, count = largest_loss_difference(runs[0], run)
        lines.append(
            f"Over their {count} common steps the losses of '{runs[0].run.title}' and '{run.run.title}' differ by at "
            f"most {difference:.2g}: the sums are rounded in different orders."
        )
    return lines


def as_text(wan: Wan, runs: list[Measured]) -> str:
    table = rows(wan, runs)
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in table
    ]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join([*lines, "", *statements(wan, runs)])


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; color: #1d2330 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .35rem .8rem; border-bottom: 1px solid #d5d9e2; text-align: right }
th:first-child, td:first-child { text-align: left }
thead th { border-bottom: 2px solid #1d2330 }
img { width: 100%; margin: 1rem 0 }
li { margin: .3rem 0 }
"""


def write_html(path: pathlib.Path, wan: Wan, runs: list[Measured], picture: pathlib.Path) -> None:
    """One file that needs nothing else."""

    def cells(tag: str, line: list[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line) + "</tr>"

    heading, *body = rows(wan, runs)
    image = base64.b64encode(picture.read_bytes()).decode()
    path.write_text(f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Isthmus demo</title><style>{STYLE}</style></head><body>
<h1>One model, {wan.sites} sites</h1>
<p>{html.escape(wan.describe())}</p>
<table><thead>{cells("th", heading)}</thead><tbody>{"".join(cells("td", line) for line in body)}</tbody></table>
<img alt="loss by step and by time, step times, WAN bytes per step" src="data:image/png;base64,{image}">
<h2>What was run</h2>
<ul>{"".join(f"<li>{html.escape(line)}</li>" for line in statements(wan, runs))}</ul>
</body></html>
""")
