# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A result as pictures: SVG, PNG and PDF, drawn without a display.

Measured values are filled and solid with bars from minimum to maximum; published ones are hollow
and dashed. Colours are Okabe and Ito's, which stay apart for colour-blind readers.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.colors

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from tandem.experiment.parts import PLOT_KINDS, Experiment, Plot, plot_paths, shown
from tandem.experiment.tables import definition_of, disturbed_samples
from tandem.files import write_bytes
from tandem.formats.published import Scalar
from tandem.formats.result import Point, Result
from tandem.statistics import geometric_mean

__all__ = ["PALETTE", "draw", "figure_of", "spread_labels"]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B6F00")
_MARKERS = "osD^vPX*"
_LOG_TICKS = (1, 1.5, 2, 3, 5, 7)  # of each decade
_ALIKE = 1.6  # largest over smallest ratio that are drawn from below the smallest, not from 0
_GREY = "#666666"
_VALUE = "value"  # marks the numbers above bars
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _GREY,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "xtick.labelcolor": "#222222",
    "ytick.labelcolor": "#222222",
    "svg.fonttype": "none",
    "svg.hashsalt": "tandem",
}


# What would make two files of one result differ.
_DATED = {"svg": ("Date",), "png": ("Software",), "pdf": ("CreationDate", "Creator", "Producer")}
_CAPTION = 7.5  # points
_LINE = 1.2  # from one line of text to the next, of its size
_COLUMN_WIDTHS_IN = {"single": 3.35, "double": 7.0}


def draw(result: Result, directory: Path, place: str = "result") -> list[Path]:
    """Draws all plots as EXPERIMENT-PLOT.svg, .png and .pdf; returns the paths."""
    experiment = definition_of(result, place)
    paths = plot_paths(experiment, directory)
    left = iter(paths)
    with matplotlib.rc_context(_STYLE):
        for plot in experiment.plots:
            figure = figure_of(result, experiment, plot)
            try:
                for kind in PLOT_KINDS:
                    buffer = io.BytesIO()
                    metadata = dict.fromkeys(_DATED[kind])
                    figure.savefig(buffer, format=kind, dpi=160, metadata=metadata)
                    write_bytes(next(left), buffer.getvalue())
            finally:
                plt.close(figure)
    return paths


def figure_of(result: Result, experiment: Experiment, plot: Plot) -> Any:
    """One plot, as a figure of matplotlib that the caller closes. Lines through one value of x
    would be points above each other: these are bars.
    """
    if plot.kind == "line" and len(_drawn_values(result, experiment, plot)) == 1:
        plot = dataclasses.replace(plot, kind="bar")
    facets: list[Scalar | None] = [None]
    if plot.facet:
        drawn = [x for x in result.points if _is_drawn(x, plot)]
        there = {x.at[plot.facet] for x in drawn}
        facets = [x for x in _values(result, experiment, plot.facet) if x in there]
    facets = facets or [None]
    bars = [*_drawn_values(result, experiment, plot), *_mean_columns(result, experiment, plot)]
    crowded = plot.kind == "bar" and len(bars) > 5
    abreast = 2 if len(facets) == 4 else 3  # no panel alone in a row
    columns = 1 if crowded or plot.width == "single" else min(len(facets), abreast)
    rows = -(-len(facets) // columns)
    width = (11.0 if crowded else 6.6) if columns == 1 else 1.2 + 3.4 * columns
    width = _COLUMN_WIDTHS_IN.get(plot.width, width)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(width, 4.1 if rows == 1 else (2.4 if crowded else 3.0) * rows),
        squeeze=False,
        layout="constrained",
        sharey=True,
    )
    panels = list(grid.flat)
    for index, facet in enumerate(facets):
        points = [x for x in result.points if facet is None or x.at[plot.facet] == facet]
        axes = panels[index]
        (_lines if plot.kind == "line" else _bars)(axes, result, points, experiment, plot)
        if index + columns >= len(facets):
            axes.set_xlabel(experiment.axis(plot.x).title)
        if index % columns == 0 and rows == 1:
            axes.set_ylabel(_y_label(experiment, plot))
        if facet is not None:
            axis = experiment.axis(plot.facet)
            axes.set_title(f"{axis.title}: {axis.label_of(facet)}", fontsize=10)
    if rows > 1:
        figure.supylabel(_y_label(experiment, plot), fontsize=9.5)
    for axes in panels[len(facets) :]:
        axes.set_visible(False)
    note = _scale(panels[: len(facets)], result, experiment, plot)
    title = figure.suptitle(
        plot.title or experiment.title, x=0.01, ha="left", fontsize=11, weight="bold"
    )
    legend = _legend(figure, result, experiment, plot)
    caption = figure.supxlabel(
        _caption(result, experiment, plot) + note, x=0.01, ha="left", fontsize=_CAPTION, color=_GREY
    )
    figure.canvas.draw()
    if legend is not None and legend.get_window_extent().overlaps(title.get_window_extent()):
        legend.remove()
        legend = _legend(figure, result, experiment, plot, above=False)
        figure.canvas.draw()
    if legend is not None and legend.get_window_extent().overlaps(caption.get_window_extent()):
        box = legend.get_window_extent()
        lines = -(-box.height // (_LINE * _CAPTION * figure.dpi / 72))
        caption.set_text(caption.get_text() + "\n" * int(lines))
        figure.canvas.draw()
    for axes in panels[: len(facets)]:
        _untangle(figure, axes)
    return figure


def _scale(panels: Sequence[Axes], result: Result, experiment: Experiment, plot: Plot) -> str:
    """One scale for all panels; what the caption says of it.

    Ratios that differ little would all look alike from 0: their axis begins below the smallest.
    """
    drawn = [y for x in result.points if (y := _measured(x, experiment, plot)) is not None]
    if not drawn:
        return ""
    low, high = min(x[1] for x in drawn), max(x[2] for x in drawn)
    if plot.scale == "log":
        if low > 0:
            panels[0].set_ylim(0.9 * low, 1.12 * high)
        for axes in panels:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=_LOG_TICKS))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
            axes.yaxis.set_minor_locator(NullLocator())
        return "\nThe axis is logarithmic."
    if plot.y == "ratio" and low > 0 and high < _ALIKE * low and plot.kind == "bar":
        margin = 0.15 * (high - low) or 0.05
        panels[0].set_ylim(min(low, 1) - margin, max(high, 1) + margin)
        return "\nThe axis does not begin at 0."
    if plot.kind == "bar":
        panels[0].set_ylim(0, max(1.12 * high, 1e-9))
    else:
        panels[0].set_ylim(bottom=0)
    return ""


def _untangle(figure: Any, axes: Axes) -> None:
    """Turns the labels of the x axis, and the values above bars, where they would touch."""
    renderer = figure.canvas.get_renderer()
    values = [x for x in axes.texts if x.get_gid() == _VALUE]
    spans = sorted((x.get_window_extent(renderer) for x in values), key=lambda box: float(box.x0))
    if any(a.x1 > b.x0 - 2 and a.overlaps(b.padded(2)) for a, b in itertools.pairwise(spans)):
        for value in values:
            value.set_rotation(90)
        axes.set_ylim(top=1.15 * axes.get_ylim()[1])
    labels = [x for x in axes.get_xticklabels() if x.get_text()]
    boxes = [x.get_window_extent(renderer) for x in labels]
    if any(a.x1 > b.x0 - 2 for a, b in itertools.pairwise(boxes)):
        for label in labels:
            label.set_rotation(35)
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")


def _y_label(experiment: Experiment, plot: Plot) -> str:
    metric = experiment.metric(plot.metric)
    if plot.y == "value":
        return f"{metric.title} ({metric.unit})" if metric.unit else metric.title
    base = experiment.baseline.at if experiment.baseline else {}
    if any(isinstance(x, str) for x in base.values()):  # a variant's name says enough
        base = {axis: value for axis, value in base.items() if isinstance(value, str)}
    name = ", ".join(
        experiment.axis(axis).label_of(value)
        if isinstance(value, str)
        else f"{experiment.axis(axis).title} = {shown(value)}"
        for axis, value in base.items()
    )
    if metric.ratio == "speedup":
        return f"speed-up over {name}"
    return f"{metric.title}, relative to {name}"


def _caption(result: Result, experiment: Experiment, plot: Plot) -> str:
    metric = experiment.metric(plot.metric)
    rounds = result.configuration["repetitions"]
    git = result.commit["git"]
    commit = f"Commit {git[:12]}." if git else "No commit."
    if not metric.is_time:
        # Nothing of this machine is in a count or a simulated time.
        spread = "" if rounds == 1 else f"Median of {rounds} rounds; bars: minimum to maximum. "
        if any(metric.interval in x.summaries for x in result.points):
            spread = "Bars: 95 % confidence interval over seeds. "
        return f"{spread}{commit}{_refused(result, experiment, plot)}"
    disturbed = disturbed_samples(result)
    return (
        f"Median of {rounds} interleaved rounds; bars: minimum to maximum. {result.host['cpu']}, "
        f"{result.host['cores']} cores. {commit}"
        + (f"\n{disturbed}" if disturbed else "")
        + _refused(result, experiment, plot)
    )


def _refused(result: Result, experiment: Experiment, plot: Plot) -> str:
    """A line that names series of which no point could be measured, by what became of them."""
    if not plot.series:
        return ""
    there = [x for x in result.points if _is_chosen(x, plot)]
    lines = []
    for value in dict.fromkeys(x.at[plot.series] for x in there):
        members = [x for x in there if x.at[plot.series] == value]
        if all(x.outcome for x in members):
            why = members[0].outcome.partition(":")[0]
            lines.append((why, experiment.axis(plot.series).label_of(value)))
    grouped = {why: [x for y, x in lines if y == why] for why, _ in lines}
    return "".join(f"\n{why[0].upper()}{why[1:]}: {', '.join(x)}" for why, x in grouped.items())


def _values(result: Result, experiment: Experiment, axis: str) -> list[Scalar]:
    """Those that were run, in the experiment's order."""
    run = {point.at[axis] for point in result.points}
    return [x for x in experiment.axis(axis).values if x in run]


def _drawn_values(result: Result, experiment: Experiment, plot: Plot) -> list[Scalar]:
    """Values of the x axis that have a point in the plot."""
    there = {x.at[plot.x] for x in result.points if _is_drawn(x, plot)}
    return [x for x in _values(result, experiment, plot.x) if x in there]


def _measured(
    point: Point, experiment: Experiment, plot: Plot
) -> tuple[float, float, float] | None:
    """Value, and the ends of its bar: minimum and maximum, or the interval that the program gave.

    None where the point has no such number.
    """
    if not _is_drawn(point, plot):
        return None
    interval = experiment.metric(plot.metric).interval
    if interval and interval in point.summaries:
        value = point.ratios[plot.metric].value if plot.y == "ratio" else None
        middle = point.summaries[plot.metric].median
        shown = middle if value is None else value
        half = point.summaries[interval].median * (shown / middle if middle else 0)
        return shown, shown - half, shown + half
    if plot.y == "ratio":
        ratio = point.ratios[plot.metric]
        low = ratio.value if ratio.minimum is None else ratio.minimum
        high = ratio.value if ratio.maximum is None else ratio.maximum
        return ratio.value, low, high
    summary = point.summaries[plot.metric]
    return summary.median, summary.minimum, summary.maximum


def _is_drawn(point: Point, plot: Plot) -> bool:
    there = point.ratios if plot.y == "ratio" else point.summaries
    return _is_chosen(point, plot) and plot.metric in there


def _is_chosen(point: Point, plot: Plot) -> bool:
    return all(point.at[name] in values for name, values in (plot.only or {}).items())


def _published(point: Point, plot: Plot) -> float | None:
    found = point.published_of(plot.metric)
    if found is None:
        return None
    return found.ratio if plot.y == "ratio" else found.value


def _colour(index: int) -> str:
    """The palette, then its lighter tints."""
    rgb = np.array(matplotlib.colors.to_rgb(PALETTE[index % len(PALETTE)]))
    tint = min(index // len(PALETTE), 2) * 0.45
    return matplotlib.colors.to_hex(tuple(rgb + (1 - rgb) * tint))


def _series(
    result: Result, points: Sequence[Point], experiment: Experiment, plot: Plot
) -> list[tuple[str, str, str, list[Point]]]:
    """Label, colour, marker and points of each series; colours are the same in all panels."""
    if not plot.series:
        return [(experiment.metric(plot.metric).title, PALETTE[0], "o", list(points))]
    axis = experiment.axis(plot.series)
    return [
        (
            axis.label_of(value),
            _colour(index),
            _MARKERS[index % len(_MARKERS)],
            [x for x in points if x.at[plot.series] == value],
        )
        for index, value in enumerate(_values(result, experiment, plot.series))
        if any(x.at[plot.series] == value and _is_drawn(x, plot) for x in result.points)
    ]


def _lines(
    axes: Axes, result: Result, points: Sequence[Point], experiment: Experiment, plot: Plot
) -> None:
    ends: list[tuple[float, float, str, str]] = []
    xs_all = sorted(float(x) for x in _values(result, experiment, plot.x))
    for label, colour, marker, members in _series(result, points, experiment, plot):
        members = [x for x in members if _is_drawn(x, plot)]
        if not members:
            continue
        members = sorted(members, key=lambda x: float(x.at[plot.x]))
        xs = np.array([float(x.at[plot.x]) for x in members])
        ys = np.array([_measured(x, experiment, plot) for x in members])
        spread = np.maximum(np.vstack([ys[:, 0] - ys[:, 1], ys[:, 2] - ys[:, 0]]), 0)
        if len(xs) == 1 and len(xs_all) > 1:
            # A series with one value, such as a sequential program, is a level to compare with.
            axes.axhline(ys[0, 0], color=colour, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        axes.errorbar(
            xs,
            ys[:, 0],
            yerr=spread,
            color=colour,
            marker=marker,
            markersize=5.5,
            linewidth=1.8,
            elinewidth=1.1,
            capsize=3,
            zorder=3,
        )
        published = [(float(x.at[plot.x]), _published(x, plot)) for x in members]
        drawn = [(x, y) for x, y in published if y is not None]
        if drawn:
            axes.plot(
                [x for x, _ in drawn],
                [y for _, y in drawn],
                color=colour,
                marker=marker,
                markersize=6.5,
                markerfacecolor="white",
                linestyle=(0, (4, 3)),
                linewidth=1.1,
                zorder=2,
            )
        ends.append((xs[-1], ys[-1, 0], label, colour))
    axes.set_xticks(xs_all, [f"{x:g}" for x in xs_all])
    margin = 0.04 * (xs_all[-1] - xs_all[0] or 1)
    axes.set_xlim(xs_all[0] - margin * 2, xs_all[-1] + margin * 2)
    _reference(axes, plot, xs_all)
    if plot.scale != "log":
        axes.set_ylim(0, axes.get_ylim()[1])
    _label_ends(axes, ends, xs_all[-1])


def _label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]], right: float) -> None:
    """Series names right of the axes at the height of their last points, moved apart."""
    top = axes.get_ylim()[1] or 1.0
    height = axes.get_window_extent().height / axes.figure.dpi * 72 or 1
    places = spread_labels([y for _, y, _, _ in ends], top * 13 / height, 0, top)
    for (_, y, label, colour), at in zip(ends, places, strict=True):
        axes.annotate(
            label,
            xy=(1, y),
            xycoords=axes.get_yaxis_transform(),
            xytext=(1.03, at),
            textcoords=axes.get_yaxis_transform(),
            color=colour,
            va="center",
            ha="left",
            weight="bold",
            annotation_clip=False,
        )


def spread_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near to the wanted ones as a simple sweep gets, at least `gap` apart, from `low`.

    All stay at or below `high` if there is room for them. The order is kept.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [0.0] * len(wanted)
    floor = low
    for i in order:
        placed[i] = max(wanted[i], floor)
        floor = placed[i] + gap
    ceiling = high
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - gap
    return placed


def _bars(
    axes: Axes, result: Result, points: Sequence[Point], experiment: Experiment, plot: Plot
) -> None:
    groups = _drawn_values(result, experiment, plot)
    series = _series(result, points, experiment, plot)
    width = 0.8 / max(len(series), 1)
    highest = 0.0
    means = _mean_columns(result, experiment, plot)
    # On a logarithmic axis, which has no 0, ratios stand on 1 and hang from it.
    floor = 1.0 if plot.scale == "log" and plot.y == "ratio" else 0.0
    for index, (label, colour, _, members) in enumerate(series):
        offset = (index - (len(series) - 1) / 2) * width
        for column, (_, of) in enumerate(means):
            mean = _mean_of(members, plot, [x for x in groups if x in of])
            if mean is not None:
                x = len(groups) + 0.3 + column + offset
                height = mean - floor
                axes.bar(
                    *(x, height, width * 0.92, floor),
                    color=colour,
                    zorder=2,
                    hatch="///",
                    alpha=0.85,
                )
        for point in members:
            measured = _measured(point, experiment, plot)
            if measured is None:
                continue
            x = groups.index(point.at[plot.x]) + offset
            y, low, high = measured
            published = _published(point, plot)
            highest = max(highest, high, published or 0)
            axes.bar(x, y - floor, width * 0.92, floor, color=colour, zorder=2)
            if low < high:  # one seed or round has no interval
                axes.errorbar(
                    x,
                    y,
                    yerr=[[max(y - low, 0)], [max(high - y, 0)]],
                    color="#222222",
                    elinewidth=1.1,
                    capsize=3,
                    zorder=4,
                )
            if published is not None:
                axes.plot(
                    x,
                    published,
                    marker="D",
                    markersize=6.5,
                    markerfacecolor="white",
                    markeredgecolor="#222222",
                    zorder=5,
                )
        if members and len(series) > 1:
            axes.bar(0, 0, bottom=floor, color=colour, label=label)
    places = [*range(len(groups)), *(len(groups) + 0.3 + i for i in range(len(means)))]
    names = [experiment.axis(plot.x).label_of(x) for x in groups] + [x for x, _ in means]
    axes.set_xticks(places, names)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.6, max(places, default=0) + 0.6)
    if plot.scale != "log":
        axes.set_ylim(0, highest * 1.12 or 1)
    if not means:
        _label_bars(axes, series, groups, width, highest, experiment, plot)
    _reference(axes, plot, [])


def _mean_columns(
    result: Result, experiment: Experiment, plot: Plot
) -> list[tuple[str, tuple[Scalar, ...]]]:
    """Names of the geometric means behind the values of x, and what each is of; none of one value,
    as short forms have of a group.
    """
    groups = [x for x in experiment.groups if x.axis == plot.x]
    if plot.y != "ratio" or not plot.means or not groups:
        return []
    run = set(_values(result, experiment, plot.x))
    means = [*((x.name, x.values) for x in groups), ("all", experiment.axis(plot.x).values)]
    return [(name, of) for name, of in means if len(run.intersection(of)) > 1]


def _mean_of(points: Sequence[Point], plot: Plot, values: Sequence[Scalar]) -> float | None:
    """None where the series lacks one of the values: its mean would be of something else."""
    ratios = {
        x.at[plot.x]: x.ratios[plot.metric].value
        for x in points
        if _is_drawn(x, plot) and x.at[plot.x] in values
    }
    if len(ratios) < len(values) or min(ratios.values()) <= 0:
        return None
    return geometric_mean(list(ratios.values()))


def _label_bars(
    axes: Axes,
    series: Iterable[tuple[str, str, str, list[Point]]],
    groups: Sequence[Scalar],
    width: float,
    highest: float,
    experiment: Experiment,
    plot: Plot,
) -> None:
    """The value above each bar, where there is room for it."""
    series = list(series)
    if len(series) * len(groups) > 14:
        return
    for index, (_, _, _, members) in enumerate(series):
        for point in members:
            measured = _measured(point, experiment, plot)
            if measured is None:
                continue
            y, _, high = measured
            x = groups.index(point.at[plot.x]) + (index - (len(series) - 1) / 2) * width
            top = max(high, _published(point, plot) or 0)
            axes.annotate(
                f"{y:,.0f}" if abs(y) >= 1000 else f"{y:.3g}",
                (x, top),
                (0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=8,
                color="#222222",
                gid=_VALUE,
            )


def _reference(axes: Axes, plot: Plot, xs: Sequence[float]) -> None:
    if plot.reference == "one":
        axes.axhline(1, color=_GREY, linewidth=1, linestyle=(0, (5, 3)), zorder=1)
    elif plot.reference == "linear" and xs:
        axes.plot(xs, xs, color=_GREY, linewidth=1, linestyle=(0, (5, 3)), zorder=1)
        axes.annotate(
            "linear",
            xy=(xs[-1], xs[-1]),
            xytext=(-4, 2),
            textcoords="offset points",
            color=_GREY,
            fontsize=8,
            ha="right",
            va="bottom",
        )


def _legend(
    figure: Any, result: Result, experiment: Experiment, plot: Plot, *, above: bool = True
) -> Any:
    """Names bars and tells measured from published; lines are named at their ends. None where there
    is nothing to name.
    """
    handles: list[Any] = []
    labels: list[str] = []
    if plot.kind == "bar":
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                if label not in labels:
                    handles.append(handle)
                    labels.append(label)
        if plot.series:
            axis = experiment.axis(plot.series)
            order = [axis.label_of(x) for x in axis.values]
            both = sorted(zip(labels, handles, strict=True), key=lambda x: order.index(x[0]))
            labels, handles = [x for x, _ in both], [x for _, x in both]
    if any(_published(x, plot) is not None for x in result.points):
        if plot.kind == "line":
            handles.append(Line2D([], [], color=_GREY, marker="o", linewidth=1.8))
            labels.append("measured")
        handles.append(
            Line2D(
                [],
                [],
                color=_GREY,
                marker="o" if plot.kind == "line" else "D",
                markerfacecolor="white",
                linestyle=(0, (4, 3)) if plot.kind == "line" else "none",
            )
        )
        labels.append("published")
    if not handles:
        return None
    # Numbers alone do not say of what.
    numbers = any(x.replace(".", "", 1).isdecimal() for x in labels)
    return figure.legend(
        handles,
        labels,
        # The title has the first line of the upper edge.
        loc="outside upper right" if above and len(handles) <= 4 else "outside lower right",
        ncols=min(len(handles), 4),
        frameon=False,
        fontsize=8.5,
        title=experiment.axis(plot.series).title if numbers and plot.series else None,
        title_fontsize=8.5,
    )
