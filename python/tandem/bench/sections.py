# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the sections of the suite are like, beside the class that STAMP's authors give them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from tandem.bench.suite import Row
from tandem.errors import CommandError
from tandem.experiment.progress import Bar
from tandem.experiment.sample import run_command

__all__ = ["Measures", "measure_sections", "sections_table", "sections_to_json"]

PROGRAMS = ("sets", "times")


@dataclass(frozen=True, slots=True)
class Measures:
    """Of one row, on one thread. Sets are in cache lines of 64 bytes."""

    sections: int
    accesses_mean: float  # instrumented loads and stores of a section
    read_mean: float
    read_p90: float
    read_most: float
    write_mean: float
    write_p90: float
    write_most: float
    share: float  # of the region's time that is spent in sections, without instrumentation
    ns_median: float  # length of a section, likewise: of a mean, a preemption would be most
    ns_p90: float


def measure_sections(
    rows: Sequence[Row], size: str, seed: int, run: Path, work: Path, build: Path, bar: Bar
) -> dict[str, Measures]:
    """Runs each row once by each of the measuring programs."""
    found: dict[str, Measures] = {}
    for row in rows:
        values: dict[str, Any] = {}
        for program in PROGRAMS:
            command = [str(run), str(work), str(build), row.name, program, "1", size]
            command += ["--seed", str(seed)]
            done = run_command(
                command, {"STAMP_ATTEMPTS": "0"}, 3600, place=f"{row.name} {program}"
            )
            try:
                values |= json.loads(done.stdout)["measures"]
            except (ValueError, KeyError) as error:
                raise CommandError(f"{row.name} {program}: its report has no measures") from error
            bar.advance(f"{row.name} {program}")
        found[row.name] = Measures(**{**values, "sections": int(values["sections"])})
    return found


def sections_table(rows: Sequence[Row], measures: Mapping[str, Measures]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("application", no_wrap=True)
    for name in (
        "sections",
        "length (ns): median",
        "90 %",
        "accesses",
        "read (lines)",
        "90 %",
        "written",
        "90 %",
        "share of time",
    ):
        table.add_column(name, justify="right")
    for name in ("length", "sets", "share", "contention"):
        table.add_column(f"STAMP: {name}", style="cyan")
    for row in rows:
        x = measures[row.name]
        table.add_row(
            row.name,
            f"{x.sections:,}",
            f"{x.ns_median:,.0f}",
            f"{x.ns_p90:,.0f}",
            f"{x.accesses_mean:,.0f}",
            f"{x.read_mean:.1f}",
            f"{x.read_p90:.0f}",
            f"{x.write_mean:.1f}",
            f"{x.write_p90:.0f}",
            f"{x.share:.0%}",
            row.length,
            row.sets,
            row.share,
            row.contention,
        )
    return table


def sections_to_json(rows: Sequence[Row], measures: Mapping[str, Measures], size: str) -> str:
    document = {
        "version": 1,
        "size": size,
        "rows": [
            {
                "name": row.name,
                "measured": asdict(measures[row.name]),
                "published": {
                    "length": row.length,
                    "sets": row.sets,
                    "share": row.share,
                    "contention": row.contention,
                },
            }
            for row in rows
        ],
    }
    return json.dumps(document, indent=2) + "\n"
