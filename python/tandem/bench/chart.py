# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The comparison as a picture: a panel for each number of threads, bars beside each other."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from tandem.bench.experiment import Comparison
from tandem.experiment.plots import PALETTE
from tandem.formats.documents import write_text
from tandem.formats.result import Result

__all__ = ["draw_comparison"]

_COLOURS = (*PALETTE, "#999999", "#44AA99", "#882255", "#DDCC77", "#332288", "#117733")
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "svg.fonttype": "none",
    "svg.hashsalt": "tandem",
}


def draw_comparison(result: Result, comparison: Comparison, target: Path) -> list[Path]:
    """Draws TARGET.svg and TARGET.png; the paths."""
    threads = [x for x in comparison.threads if any(p.at["threads"] == x for p in result.points)]
    with matplotlib.rc_context(_STYLE):
        figure, grid = plt.subplots(
            len(threads), 1, figsize=(11, 1.1 + 2.7 * len(threads)), squeeze=False
        )
        for axes, count in zip(grid.flat, threads, strict=True):
            _panel(axes, result, comparison, count)
        figure.suptitle(
            f"STAMP-class suite, size {comparison.size}: time relative to "
            f"{comparison.baseline_text()}",
            x=0.01,
            ha="left",
            weight="bold",
        )
        handles, labels = grid.flat[-1].get_legend_handles_labels()
        rows = -(-len(labels) // 6)
        figure.legend(handles, labels, loc="lower left", ncols=6, frameon=False)
        rounds = result.configuration["repetitions"]
        figure.text(
            0.99,
            0.005,
            f"median of {rounds} interleaved rounds; bars: minimum to maximum; "
            f"{result.host['cpu']}, {result.host['cores']} processors",
            ha="right",
            fontsize=7,
            color="#666666",
        )
        figure.tight_layout(rect=(0, 0.02 + 0.075 * rows / len(threads), 1, 0.99))
        try:
            return [_save(figure, target.with_suffix(f".{kind}")) for kind in ("svg", "png")]
        finally:
            plt.close(figure)


def _panel(axes: Any, result: Result, comparison: Comparison, threads: int) -> None:
    names = [x.name for x in comparison.variants if x.parallel]
    width = 0.8 / len(names)
    rows = [x.name for x in comparison.rows]
    for index, name in enumerate(names):
        offset = (index - (len(names) - 1) / 2) * width
        ratios = {
            x.at["application"]: x.ratios["seconds"]
            for x in result.points
            if x.at["variant"] == name and x.at["threads"] == threads
        }
        places = [rows.index(str(x)) + offset for x in ratios]
        heights = [x.value for x in ratios.values()]
        low = [x.value - (x.value if x.minimum is None else x.minimum) for x in ratios.values()]
        high = [(x.value if x.maximum is None else x.maximum) - x.value for x in ratios.values()]
        axes.bar(places, heights, width * 0.92, color=_COLOURS[index], label=name)
        axes.errorbar(
            places, heights, yerr=[low, high], fmt="none", ecolor="#222222", elinewidth=0.9
        )
    axes.axhline(1, color="#666666", linewidth=1, linestyle=(0, (5, 3)))
    axes.set_xticks(range(len(rows)), rows)
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"{threads} thread" + ("" if threads == 1 else "s"))


def _save(figure: Any, path: Path) -> Path:
    buffer = io.BytesIO()
    kind = path.suffix[1:]
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    if kind == "svg":
        write_text(path, buffer.getvalue().decode("utf-8"))
    else:
        path.write_bytes(buffer.getvalue())
    return path
