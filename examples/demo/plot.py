"""The picture of the demo: loss by step and by time, step times, bytes on the WAN."""

from __future__ import annotations

import pathlib

from lab import Wan
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from results import Measured, allreduce_bound_bytes

COLORS = {"isthmus": "#0b6e99", "no-wan": "#7a8699", "gloo": "#c4661f"}


def color_of(run: Measured) -> str:
    return COLORS[run.run.name]


def draw_losses(axes: Axes, runs: list[Measured], by_time: bool) -> None:
    # The run without a WAN last and thin: by step it lies on the others.
    for run in sorted(runs, key=lambda run: run.run.flat):
        x = run.ends_seconds if by_time else range(1, run.steps + 1)
        style = {"linewidth": 1.2, "linestyle": "--"} if run.run.flat else {"linewidth": 2}
        axes.plot(x, run.losses, color=color_of(run), label=run.run.title, **style)
    axes.set_title(f"Training loss by {'time' if by_time else 'step'}")
    axes.set_xlabel("seconds since the first step" if by_time else "step")
    axes.set_ylabel("nats per byte")
    axes.legend(frameon=False)


def draw_step_times(axes: Axes, runs: list[Measured]) -> None:
    for position, run in enumerate(runs):
        median = run.median_step_seconds
        low, high = run.step_percentile_seconds(10), run.step_percentile_seconds(90)
        axes.bar(position, median, color=color_of(run), width=0.6, yerr=[[median - low], [high - median]], capsize=4)
        axes.annotate(
            f"{median:.2f} s", (position, high), ha="center", va="bottom", xytext=(0, 3), textcoords="offset points"
        )
    axes.set_title("Step time: median, 10th to 90th percentile")
    axes.set_ylabel("seconds")
    label_bars(axes, runs)


def draw_wan_bytes(axes: Axes, runs: list[Measured], wan: Wan) -> None:
    counted = [run for run in runs if run.wan_bytes_per_step is not None]
    for position, run in enumerate(counted):
        sent = run.wan_bytes_per_step / 1e6
        axes.bar(position, sent, color=color_of(run), width=0.6)
        axes.annotate(
            f"{sent:.2f} MB", (position, sent), ha="center", va="bottom", xytext=(0, 3), textcoords="offset points"
        )
    bound = allreduce_bound_bytes(runs[0], wan.sites) / 1e6
    axes.axhline(bound, color="#1d2330", linestyle=":", label=f"least for an allreduce (computed): {bound:.2f} MB")
    axes.set_title("WAN bytes sent per step and site")
    axes.set_ylabel("MB")
    label_bars(axes, counted)
    axes.margins(y=0.3)
    axes.legend(frameon=False, loc="upper left")


def label_bars(axes: Axes, runs: list[Measured]) -> None:
    axes.set_xticks(range(len(runs)), [run.run.title for run in runs])
    axes.margins(y=0.15)


def write(path: pathlib.Path, wan: Wan, runs: list[Measured]) -> None:
    figure = Figure(figsize=(12, 8.5), layout="constrained")  # without pyplot, which would look for a display
    axes = figure.subplots(2, 2)
    draw_losses(axes[0][0], runs, by_time=False)
    draw_losses(axes[0][1], runs, by_time=True)
    draw_step_times(axes[1][0], runs)
    draw_wan_bytes(axes[1][1], runs, wan)
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"One model, {wan.describe()}")
    figure.savefig(path, dpi=110)
