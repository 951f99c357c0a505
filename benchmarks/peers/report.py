"""The rows as a table, and as a picture."""

import settings as all_settings

BASE = "isthmus-libfabric"  # what the others are compared with


def _ratio(row, base):
    """How many times as long as Isthmus it takes."""
    if row.p50_us is None or base is None or base.p50_us is None:
        return "-"
    return f"{row.p50_us / base.p50_us:.2f}"


def _value(row):
    setting = all_settings.find(row.setting)
    if row.value is None:
        return "-"
    return f"{row.value:.3f} of line" if setting.unit == "fill" else f"{row.value:.2f} {setting.unit}"


def table(rows):
    """One line per row; `x` is the time over that of Isthmus over libfabric in the same setting."""
    lines = [f"{'setting':<20} {'peer':<18} {'p50 ms':>10} {'':>15} {'x':>6} {'congestion':>10} {'wrong':>5}  note"]
    for row in rows:
        base = next((other for other in rows if other.setting == row.setting and other.peer == BASE), None)
        p50 = "-" if row.p50_us is None else f"{row.p50_us / 1000:.1f}"
        wrong = "-" if row.wrong is None else str(row.wrong)
        lines.append(f"{row.setting:<20} {row.peer:<18} {p50:>10} {_value(row):>15} {_ratio(row, base):>6} "
                     f"{row.congestion or '-':>10} {wrong:>5}  {row.note or row.version}".rstrip())  # fmt: skip
    return "\n".join(lines) + "\n"


def plot(rows, folder):
    """peers.png and peers.svg: the share of the line, by setting. Returns whether there was anything to draw."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    filled = [row for row in rows if row.value is not None and all_settings.find(row.setting).unit == "fill"]
    if not filled:
        return False
    names = list(dict.fromkeys(row.setting for row in filled))
    peers = list(dict.fromkeys(row.peer for row in filled))
    width = 0.8 / len(peers)
    figure, axes = pyplot.subplots(figsize=(max(8, 2 + 1.3 * len(names)), 4.5), layout="constrained")
    for index, peer in enumerate(peers):
        mine = {row.setting: row.value for row in filled if row.peer == peer}
        places = [i + (index - (len(peers) - 1) / 2) * width for i, name in enumerate(names) if name in mine]
        axes.bar(places, [mine[name] for name in names if name in mine], width, label=peer)
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    axes.set_ylabel("bus bandwidth / line rate")
    axes.set_ylim(0, 1)
    axes.axhline(1448 / 1500, color="grey", linewidth=0.8, linestyle="--", label="what TCP/IP leaves")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=len(peers) + 1, frameon=False)
    for suffix in ("png", "svg"):
        figure.savefig(folder / f"peers.{suffix}", dpi=150)
    pyplot.close(figure)
    return True
