# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The published steps of registering a reference, and what tandem-cc says of each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CommandError
from tandem.statistics import median
from tandem.workload.steps import say

__all__ = ["STEPS", "SectionClass", "Step", "classes", "measure_steps", "print_steps"]

# Each step's section in the report.
STEPS = {
    "inside": "inside_1",
    "behind": "steps.c:behind_1",
    "handler": "handler_1",
    "closure": "open_closure_1",
}


@dataclass(frozen=True)
class SectionClass:
    name: str  # pure, hybrid, non-revocable
    callees: tuple[str, ...]  # that cannot be undone


@dataclass(frozen=True)
class Step:
    variant: str
    name: str
    threads: int
    rates: tuple[float, ...]  # look-ups a second


def classes(report: Path) -> dict[str, SectionClass]:
    """Of a report's sections, by name."""
    try:
        sections = json.loads(report.read_text(encoding="utf-8"))["sections"]
        return {
            x["name"]: SectionClass(
                x["class"], tuple(dict.fromkeys(y["callee"] for y in x["irrevocable"]))
            )
            for x in sections
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{report}: is no report of tandem-cc: {error}") from error


def measure_steps(
    programs: Mapping[str, Path],
    threads: Sequence[int],
    rounds: int,
    operations: int,
    environment: Mapping[str, str],
) -> list[Step]:
    """Steps and variants in turn, round by round. CommandError where a pool does not have what was
    found.
    """
    results: dict[tuple[str, str, int], list[float]] = {}
    for number in range(rounds):
        for count in threads:
            for variant, program in programs.items():
                for name in STEPS:
                    say(f"steps: round {number + 1} of {rounds}: {variant}, {name}, {count}")
                    done = subprocess.run(
                        [str(program), name, str(count), str(operations)],
                        env=dict(environment),
                        capture_output=True,
                        text=True,
                        check=False,
                        timeout=600,
                    )
                    if done.returncode != 0:
                        raise CommandError(f"{program}: {name}: {done.stderr.strip()}")
                    rate = float(json.loads(done.stdout)["operations_per_second"])
                    results.setdefault((variant, name, count), []).append(rate)
    return [Step(*key, tuple(rates)) for key, rates in results.items()]


def print_steps(results: Sequence[Step], sections: Mapping[str, SectionClass]) -> None:
    print("\n  step      section         cannot be undone because of")
    for name, section in STEPS.items():
        found = sections[section]
        print(f"  {name:<10}{found.name:<16}{', '.join(found.callees) or '-'}")
    print("\n  variant   threads   step        look-ups/s   ratio to inside (spread)")
    for result in results:
        first = next(
            x
            for x in results
            if (x.variant, x.threads, x.name) == (result.variant, result.threads, "inside")
        )
        ratios = [a / b for a, b in zip(result.rates, first.rates, strict=True)]
        print(
            f"  {result.variant:<10}{result.threads:>7}   {result.name:<9}"
            f"{median(result.rates):>13,.0f}"
            f"{median(ratios):>8.2f} ({min(ratios):.2f} - {max(ratios):.2f})"
        )
