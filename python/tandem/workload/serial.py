# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of a run's sections ran serially, from its profile (docs/formats/profile.md), and whether
that is little enough: none because of what it calls, and of the rest less than one in 100,000.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tandem.errors import CommandError
from tandem.workload.replay import Load, run_once
from tandem.workload.steps import say

__all__ = [
    "MOST_AFTER_ABORTS",
    "SerialRuns",
    "abort_rate_variance",
    "count_serial",
    "print_serial",
    "read_serial",
]

MOST_AFTER_ABORTS = 1e-5  # of all commits: the papers' bound
# What libitm's statistics call so: an attempt that reached an unsafe call under way, and one whose
# plan says from its begin that it will. All other causes come after aborts.
IN_FLIGHT = ("irrevocable-call", "requested")
AT_START = ("irrevocable-begin", "algorithm")


@dataclass(frozen=True)
class SerialRuns:
    """Attempts of one variant with some threads, summed over rounds."""

    variant: str
    threads: int
    commits: int
    aborts: int
    in_flight: int
    at_start: int
    after_aborts: int
    # For each of the first two, most first: section, its demand's innermost calls, and how many.
    demands: Sequence[tuple[str, int]] = field(default=())

    def problems(self) -> Iterator[str]:
        who = f"{self.variant}, {self.threads} threads"
        if self.commits == 0:
            yield f"{who}: no section ran"
        if self.in_flight:
            yield f"{who}: {self.in_flight} in-flight switches"
        if self.at_start:
            yield f"{who}: {self.at_start} serial starts"
        if self.after_aborts >= MOST_AFTER_ABORTS * self.commits > 0:
            yield f"{who}: {self.after_aborts} of {self.commits} ran serially after aborts"


def _demand(section: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    # What the compiler appends to a function's name tells nothing here.
    calls = [
        f"{x['function'].partition('.tandem')[0]} ({x['file']}:{x['line']})"
        for x in entry.get("stack", ())
        if x["line"]
    ]
    return f"{section['name']}: {entry['cause']}{' in ' if calls else ''}{', '.join(calls[:2])}"


def abort_rate_variance(profile: Path, threads: int) -> float:
    """Of so many threads that have committed most, how much their aborts for each commit vary.
    CommandError where the profile cannot be read or has fewer.
    """
    try:
        each = json.loads(profile.read_text(encoding="utf-8"))["run"]["each_thread"]
        most = sorted(each, key=lambda x: x["commits"])[-threads:]
        rates = [x["aborts"] / x["commits"] for x in most]
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise CommandError(f"{profile}: is not a profile of threads: {error}") from error
    if len(rates) < threads:
        raise CommandError(f"{profile}: {len(rates)} threads ran sections, not {threads}")
    return statistics.pvariance(rates)


def read_serial(variant: str, threads: int, profiles: Sequence[Path]) -> SerialRuns:
    """Adds profiles up. CommandError where one cannot be read."""
    counts: Counter[str] = Counter()
    demands: Counter[str] = Counter()
    for file in profiles:
        try:
            sections = json.loads(file.read_text(encoding="utf-8"))["sections"]
            for section in sections:
                counts["commits"] += section["commits"]
                counts["aborts"] += sum(x["count"] for x in section["aborts"])
                for x in section["serialisations"]:
                    counts[x["cause"]] += x["count"]
                    if x["cause"] in IN_FLIGHT + AT_START:
                        demands[_demand(section, x)] += x["count"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CommandError(f"{file}: is not a profile of sections: {error}") from error
    commits, aborts = counts.pop("commits", 0), counts.pop("aborts", 0)
    in_flight = sum(counts.pop(x, 0) for x in IN_FLIGHT)
    at_start = sum(counts.pop(x, 0) for x in AT_START)
    rest = sum(counts.values())
    return SerialRuns(
        variant, threads, commits, aborts, in_flight, at_start, rest, demands.most_common(8)
    )


def count_serial(
    programs: Mapping[str, Path],
    library: Path,
    load: Load,
    *,
    threads: Sequence[int],
    rounds: int,
    operations: int,
    seed: int,
    environment: Mapping[str, str],
) -> list[SerialRuns]:
    """Runs each of `programs` once more, profiled, with each number of threads. Sections that may
    hold locks instead are transactions.
    """
    counts = []
    for number in threads:
        for variant, program in programs.items():
            with tempfile.TemporaryDirectory(prefix="tandem-serial-") as name:
                files = [Path(name) / f"{i}.json" for i in range(rounds)]
                for i, file in enumerate(files):
                    say(f"serial: round {i + 1} of {rounds}: {variant}, {number} threads")
                    settings = {"operations": operations, "seed": seed + i, **load.settings}
                    told = {
                        "TANDEM_PROFILE": str(file),
                        "TANDEM_PROFILE_PERIOD": "1",
                        "TANDEM_HYBRID": "transactions",
                    }
                    run_once(program, library, load, settings, number, {**environment, **told})
                counts.append(read_serial(variant, number, files))
    return counts


def print_serial(all_of: Sequence[SerialRuns]) -> bool:
    """A table, who demanded what, and the verdict: whether it is little enough."""
    print("\n  variant     threads       commits      aborts   in flight   at start   after aborts")
    for x in all_of:
        print(
            f"  {x.variant:<12}{x.threads:>7}{x.commits:>14,}{x.aborts:>12,}{x.in_flight:>12,}"
            f"{x.at_start:>11,}{x.after_aborts:>15,}"
        )
    for x in all_of:
        for demand, count in x.demands:
            print(f"  {x.variant}: {count} times {demand}")
    problems = [text for x in all_of for text in x.problems()]
    for text in problems:
        print(f"FAILED: {text}")
    return not problems
