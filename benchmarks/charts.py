"""The charts, as SVG that reads well on a light and on a dark page: no background, and colours between the two."""

import math

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.measuring import binary

# Contrast with white and with #0d1117 is 4.3 to 1 or more, for each of them.
OURS, THEIRS = "#1f7ae0", "#737b85"
FAINT = 0.28
STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 11,
    "text.color": THEIRS,
    "axes.labelcolor": THEIRS,
    "axes.edgecolor": THEIRS,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": THEIRS,
    "ytick.color": THEIRS,
    # Text stays text, and equal data gives an equal file.
    "svg.fonttype": "none",
    "svg.hashsalt": "retention",
}
MIB = 1 << 20


def draw(results, folder):
    """Draw what there are figures for; returns the files."""
    tables = [table for table in results["stdout"] or () if table["size"] is not None]
    # The first is that of the largest writes, alone.
    wanted = [(throughput, "throughput", tables[0] if tables else None)]
    points = results["scale"]["points"] if results["scale"] else []
    wanted += [
        (memory, "memory", [point for point in points if point["series"] == "stream"]),
        (push, "push", [point for point in points if point["series"] == "chunk"]),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    with mpl.rc_context(STYLE):
        for chart, name, data in wanted:
            if data:
                figure = chart(data)
                files.append(folder / f"{name}.svg")
                figure.savefig(files[-1], transparent=True, metadata={"Date": None, "Creator": None})
    return files


def throughput(table):
    """Bars, the fastest on top, and the limit as a line."""
    limit = next((row["gb_per_s"] for row in table["rows"] if row["consumer"] == "sink" and "wrong" not in row), None)
    rows = [row for row in table["rows"] if row["consumer"] != "sink" and "wrong" not in row]
    rows.sort(key=lambda row: row["gb_per_s"])
    figure, axes = new(0.3 * len(rows) + 1.3, left=0.41, right=0.92)
    places = range(len(rows))
    colors = [color(row) for row in rows]
    axes.barh(places, [row["gb_per_s"] for row in rows], height=0.68, color=colors)
    for place, row in zip(places, rows, strict=True):
        # In a column of their own, where no line crosses them.
        axes.annotate(
            f"{row['gb_per_s']:.2f}", (1, place), (36, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", va="center_baseline", color=color(row),
        )  # fmt: skip
    axes.set_yticks(places, [plain(row["title"]) for row in rows])
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_color(color(row))
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(0, 1.03 * max([row["gb_per_s"] for row in rows] + [limit or 0]))
    if limit:
        axes.axvline(limit, color=THEIRS, linestyle=(0, (4, 3)), linewidth=1.2, zorder=0)
        axes.annotate(
            f"C program that throws it away: {limit:.2f}", (limit, 1), (0, 5), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="right" if limit > axes.get_xlim()[1] / 2 else "left", va="bottom",
        )  # fmt: skip
    axes.set_xlabel(f"GB/s, {plain(table['title'])}")
    return figure


def memory(points):
    """Peak memory against the length of the stream."""
    figure, axes = new(3.6)
    lines = [
        ("retained", "TextRetainer, head and tail of 8 KiB"),
        ("everything", "all of it in a bytearray"),
    ]
    lowest, highest = (function(point["peak"] for point in points) for function in (min, max))
    for who, name in lines:
        line = [(point["value"], point["peak"]) for point in points if point["who"] == who]
        if line:
            plot(axes, line, who == "retained")
            x, y = line[-1]
            ours = who == "retained"
            axes.annotate(
                f"{name}: {y / MIB:,.0f} MiB", (x, y), (0, 9), textcoords="offset points",
                ha="right" if ours else "left", va="bottom", color=OURS if ours else THEIRS,
            )  # fmt: skip
    sizes(axes, [point["value"] for point in points], 16)
    ticks(axes.yaxis, axes.set_yscale, decades(lowest / 2, highest * 1.5, MIB, 4), binary)
    axes.set_ylim(lowest / 2, highest * 2.5)
    axes.set_xlabel("length of the stream, pushed in chunks of 64 KiB")
    axes.set_title("peak memory of the process, imports included", loc="left", fontsize=11, color=THEIRS, pad=10)
    return figure


def push(points):
    """Time per push against the size of the chunk."""
    figure, axes = new(4.2, right=0.7)
    names = {
        "retained": "TextRetainer.push",
        "chunks": "a deque of chunks",
        "slices": "a bytearray, its front deleted",
        "last": "deque.append alone",
    }
    ends = []
    for who, name in names.items():
        line = [(point["value"], point["ns_per_push"]) for point in points if point["who"] == who]
        if line:
            ours = who == "retained"
            plot(axes, line, ours, floor=who == "last")
            ends.append((line[-1][1], name, OURS if ours else THEIRS))
    values = [point["ns_per_push"] for point in points]
    sizes(axes, [point["value"] for point in points], 16)
    ticks(axes.yaxis, axes.set_yscale, decades(min(values) / 2, max(values) * 2, 1, 10), duration)
    axes.set_ylim(min(values) / 1.8, max(values) * 1.5)
    beside(axes, points[-1]["value"], ends)
    axes.set_xlabel("size of the chunk; head and tail of 8 KiB are kept")
    axes.set_title("time per push", loc="left", fontsize=11, color=THEIRS, pad=10)
    return figure


def new(height, left=0.1, right=0.95):
    figure = Figure(figsize=(8, height))
    axes = figure.add_subplot()
    # In inches above and below, whatever the height is.
    figure.subplots_adjust(left=left, right=right, bottom=0.6 / height, top=1 - 0.4 / height)
    return figure, axes


def color(row):
    return OURS if row["ours"] else THEIRS


def plain(title):
    return title.replace("`", "")


def plot(axes, line, ours, *, floor=False):
    style = (
        {"color": OURS, "linewidth": 2.4, "markersize": 5}
        if ours
        else {"color": THEIRS, "linewidth": 1.4, "markersize": 3.5}
    )
    dashes = {"linestyle": (0, (4, 3))} if floor else {"marker": "o"}
    axes.plot(*zip(*line, strict=True), **style, **dashes, zorder=3 if ours else 2)


def beside(axes, x, ends):
    """Names at the ends of lines, pushed apart where they would lie over each other."""
    ends = sorted(ends)
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    low, high = (math.log(limit) for limit in axes.get_ylim())
    places = []
    for value, *_ in ends:
        place = (math.log(value) - low) / (high - low) * height
        places.append(max(place, places[-1] + 15) if places else place)
    for (value, name, shade), place in zip(ends, places, strict=True):
        offset = place - (math.log(value) - low) / (high - low) * height
        axes.annotate(name, (x, value), (10, offset), textcoords="offset points", va="center", color=shade)


def sizes(axes, values, factor):
    first, last = min(values), max(values)
    places = [first]
    while places[-1] * factor <= last:
        places.append(places[-1] * factor)
    ticks(axes.xaxis, axes.set_xscale, places, binary)


def decades(low, high, unit, factor):
    """Round places between two limits: powers of a factor, from a unit on."""
    first = math.ceil(math.log(low / unit, factor))
    last = math.floor(math.log(high / unit, factor))
    return [unit * factor**power for power in range(first, last + 1)]


def ticks(axis, set_scale, places, text):
    set_scale("log")
    axis.set_major_locator(FixedLocator(places))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    if axis.axis_name == "y":
        axis.axes.grid(axis="y", color=THEIRS, alpha=FAINT, linewidth=0.8)
        axis.axes.tick_params(axis="y", left=False)
        axis.axes.spines["left"].set_visible(False)


def duration(ns):
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns:.3g} ns"
