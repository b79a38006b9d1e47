# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The comparison as an experiment (docs/formats/experiment.md), and its tables."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tandem.bench.suite import Row, Variant
from tandem.experiment.definition import from_document
from tandem.experiment.parts import Experiment
from tandem.formats.result import Point, Result

__all__ = [
    "TARGET",
    "Comparison",
    "aborts_table",
    "build_command",
    "make_experiment",
    "print_comparison",
]


# Of the harts. A transaction of theirs that has restarted so often runs by software.
TARGET = "riscv64-linux-gnu"
RESTARTS = 64


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared."""

    rows: tuple[Row, ...]
    variants: tuple[Variant, ...]  # the baseline among them
    threads: tuple[int, ...]
    size: str
    seed: int
    baseline: Variant
    machine: str = ""  # the protocol of the simulated machine; empty: on this one

    @property
    def target(self) -> str:
        return TARGET if self.machine else ""

    def baseline_threads(self, threads: int) -> int:
        """Threads of what points with `threads` are relative to."""
        return threads if self.baseline.parallel else 1

    def baseline_text(self) -> str:
        return self.baseline.name + ("" if self.baseline.parallel else " on one thread")


def build_command(programs: Sequence[str], rows: Sequence[Row], target: str = "") -> list[str]:
    """Builds what is missing in {work}, for this machine or for `target`."""
    return [
        "make",
        "--no-print-directory",
        f"-j{os.cpu_count() or 1}",
        "-f",
        "{source}/workloads/stamp/Makefile",
        "WORK={work}",
        "TANDEM_CC={build}/bin/tandem-cc",
        "TANDEM_INCLUDE={build}/include",
        f"VARIANTS={' '.join(dict.fromkeys(programs))}",
        f"APPLICATIONS={' '.join(dict.fromkeys(x.application for x in rows))}",
        f"TARGET={target}",
    ]


def make_experiment(comparison: Comparison, *, counting: bool = False) -> Experiment:
    """`counting`: one run of each point by the programs that count executions, for aborts."""
    variants = [x for x in comparison.variants if x.counts or not counting]
    programs = [x.program + ("-attempts" if counting else "") for x in variants]
    serial = [x.name for x in variants if not x.parallel]
    several = [x for x in comparison.threads if x != 1]
    threads = sorted({*comparison.threads, *([1] if serial else [])})
    document: dict[str, Any] = {
        "version": 1,
        "title": f"The STAMP-class suite, size {comparison.size}"
        + (f", on the simulated machine ({comparison.machine})" if comparison.machine else "")
        + (": aborts for each commit" if counting else ""),
        "parameters": {"size": comparison.size, "input_seed": comparison.seed},
        "build": {
            "commands": [build_command(programs, comparison.rows, comparison.target)],
            "timeout_s": 3600,
        },
        "axis": [
            {"name": "application", "values": [x.name for x in comparison.rows]},
            {"name": "variant", "values": [x.name for x in variants]},
            {"name": "threads", "values": threads},
        ],
        "run": {
            "command": [
                "{source}/workloads/stamp/run.sh",
                "{work}",
                "{build}",
                "{application}",
                "{variant}",
                "{threads}",
                "{size}",
                "--seed",
                "{input_seed}",
            ],
            "environment": {"STAMP_ATTEMPTS": "1" if counting else "0"},
            "timeout_s": 3600,
        },
        "metric": [
            {"name": "seconds", "source": "json", "pointer": "/seconds", "unit": "s"},
            {"name": "cpu", "source": "json", "pointer": "/cpu_seconds", "unit": "s"},
            {"name": "sections", "source": "json", "pointer": "/sections"},
        ],
        "exclude": [],
    }
    if comparison.machine:
        words = f"--mode timing --protocol {comparison.machine} --tx-limit {RESTARTS}"
        document["run"]["environment"]["STAMP_ON"] = words
        document["run"]["side_by_side"] = True
        for metric in document["metric"]:
            metric["depends_on_load"] = False
    if serial and several:
        document["exclude"].append({"variant": serial, "threads": several})
    if 1 not in comparison.threads:  # it is there for the baseline only
        others = [x.name for x in variants if x.parallel]
        if serial and others:
            document["exclude"].append({"variant": others, "threads": [1]})
    if counting:
        document["metric"].append({"name": "attempts", "source": "json", "pointer": "/attempts"})
    else:
        _add_ratios(document, comparison)
    text = json.dumps(document, sort_keys=True)
    name = "bench-aborts" if counting else "bench"
    return from_document(document, file="tandem bench", name=name, text=text)


def _add_ratios(document: dict[str, Any], comparison: Comparison) -> None:
    document["metric"][0] |= {"label": "time of the parallel region", "ratio": "relative"}
    document["metric"][1] |= {"label": "CPU time of the parallel region", "ratio": "relative"}
    one = {} if comparison.baseline.parallel else {"threads": 1}
    document["baseline"] = {"at": {"variant": comparison.baseline.name, **one}}
    document["geometric_mean"] = [{"metric": x, "over": "application"} for x in ("seconds", "cpu")]


def _values(result: Result, axis: str) -> list[Any]:
    return list(dict.fromkeys(x.at[axis] for x in result.points))


def _point(result: Result, row: str, variant: str, threads: int) -> Point | None:
    wanted = {"application": row, "variant": variant, "threads": threads}
    return next((x for x in result.points if x.at == wanted), None)


def _seconds(value: float) -> str:
    """Three digits behind the point, or three that count."""
    return f"{value:.3f}" if value >= 0.1 or value == 0 else f"{value:.3g}"


def _cell(point: Point | None, metric: str) -> str:
    if point is None:
        return "–"
    ratio = point.ratios[metric]
    if ratio.minimum is None or ratio.maximum is None:
        return f"{ratio.value:.2f}"
    return f"{ratio.value:.2f} ({ratio.minimum:.2f}–{ratio.maximum:.2f})"


def print_comparison(result: Result, comparison: Comparison, console: Console) -> None:
    """A table for each number of threads, and for one thread also of CPU time."""
    base = comparison.baseline.name
    for threads in comparison.threads:
        metrics = ["seconds", "cpu"] if threads == 1 else ["seconds"]
        for metric in metrics:
            what = "CPU time" if metric == "cpu" else "time"
            plural = "thread" if threads == 1 else "threads"
            console.print(
                Text(f"{threads} {plural}: {what} relative to {base} (min–max)", style="bold")
            )
            console.print(_ratios(result, comparison, threads, metric))
    rounds = result.configuration["repetitions"]
    if comparison.machine:
        console.print(
            Text(
                f"simulated time on {comparison.machine}, harts as threads, size {comparison.size}",
                style="dim",
            )
        )
        return
    console.print(
        Text(
            f"median of {rounds} interleaved rounds, size {comparison.size}; {result.host['cpu']}, "
            f"{result.host['cores']} processors, RTM {'yes' if result.host['rtm'] else 'no'}, "
            f"load {result.host['load_1m']} before",
            style="dim",
        )
    )


def _ratios(result: Result, comparison: Comparison, threads: int, metric: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("application", no_wrap=True)
    names = [x.name for x in comparison.variants if x.parallel or threads == 1]
    names = [x for x in names if any(p.at["variant"] == x for p in result.points)]
    base = comparison.baseline.name
    table.add_column(f"{base} (s)", justify="right", no_wrap=True)
    others = [x for x in names if x != base]
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    for row in comparison.rows:
        baseline = _point(result, row.name, base, comparison.baseline_threads(threads))
        seconds = "–" if baseline is None else _seconds(baseline.summaries[metric].median)
        cells = [_cell(_point(result, row.name, x, threads), metric) for x in others]
        table.add_row(row.name, seconds, *cells)
    means = {
        str(x.at["variant"]): x.value
        for x in result.geometric_means
        if x.metric == metric and x.at.get("threads") == threads
    }
    table.add_section()
    cells = [f"{means[x]:.2f}" if x in means else "–" for x in others]
    table.add_row("geometric mean", "", *cells, style="bold")
    return table


def aborts_table(result: Result, comparison: Comparison) -> Table:
    """Executions of sections that were rolled back, for each that was not."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title="aborts per commit", title_justify="left"
    )
    table.add_column("application", no_wrap=True)
    columns = [
        (variant, threads)
        for variant in _values(result, "variant")
        for threads in comparison.threads
    ]
    for variant, threads in columns:
        table.add_column(f"{variant} ×{threads}", justify="right", no_wrap=True)
    for row in comparison.rows:
        cells = []
        for variant, threads in columns:
            point = _point(result, row.name, variant, threads)
            if point is None:
                cells.append("–")
                continue
            metrics = point.samples[0].metrics
            cells.append(f"{metrics['attempts'] / metrics['sections'] - 1:.3f}")
        table.add_row(row.name, *cells)
    return table
