#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transactions on the simulated machine of MetaTM: what options do to shared structures.

    structures.py [--build DIR] [--harts N] [--scale PERCENT] [--seeds N] OUTPUT.json

Counter, list, tree and hash table (workloads/metatm/structures.c) on `mesi-snoop` with the
configuration `metatm`: under a lock, under transactions with the machine's own options, and with
one option changed: each policy and backoff, stalls, costs of commits and aborts. Cycles are those
of region 1; they are simulated, so that the load of this host changes nothing. The seed is that of
the backoffs; each result is the mean over the seeds. Prints tables in Markdown.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
STRUCTURES = {"counter": 500, "list": 100, "tree": 150, "hash": 200}  # operations of a thread
POLICIES = ("polite", "karma", "eruption", "kindergarten", "timestamp", "polka", "size-matters")
BACKOFFS = ("none", "linear", "exponential", "random", "square")
COSTS = (0, 100, 1000, 10000)


@dataclass(frozen=True)
class Result:
    """One structure under one choice: means over the seeds."""

    structure: str
    how: str  # lock, or htm
    choice: str  # what differs from the defaults
    cycles: float
    transactions: float
    restarts: float
    unique_restarts: float
    fallbacks: float
    backoff_cycles: float
    stalls: float

    @property
    def restart_percent(self) -> float:
        total = self.restarts + self.transactions
        return 100 * self.restarts / total if total else 0.0


def choices() -> dict[str, list[str]]:
    """Names and settings of all choices but the defaults'."""
    found: dict[str, list[str]] = {}
    for policy in POLICIES:
        found[f"policy {policy}"] = [f'htm.policy="{policy}"']
    for backoff in BACKOFFS:
        found[f"backoff {backoff}"] = [f'htm.backoff="{backoff}"']
    found["stall"] = ["htm.stall=true"]
    for kind in ("commit", "abort"):
        for cost in COSTS[1:]:
            found[f"{kind} {cost}"] = [f"htm.{kind}_cycles={cost}"]
    return found


def run(machine: Path, words: list[str]) -> tuple[int, dict[str, int]]:
    """Cycles of region 1 and the counts of transactions."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.json"
        command = [str(machine), "exec", "--json", str(file), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stdout != "right\n":
            sys.exit(f"structures.py: {' '.join(command)}: {done.stdout}{done.stderr}")
        result = json.loads(file.read_text(encoding="utf-8"))
    counts = result["timing"]["regions"][0]["counts"]
    return counts["timed_cycles"], result.get("transactions", {})


def measure(arguments: argparse.Namespace, program: Path) -> list[Result]:
    machine = Path(arguments.build) / "libexec" / "tandem-machine"
    results = []
    todo: list[tuple[str, str, list[str]]] = [("lock", "lock", []), ("htm", "defaults", [])]
    todo += [("htm", name, settings) for name, settings in choices().items()]
    for structure, operations in STRUCTURES.items():
        count = max(1, operations * arguments.scale // 100)
        for how, choice, settings in todo:
            words = ["--harts", str(arguments.harts), "--mode", "timing", "-p", "mesi-snoop"]
            for setting in settings:
                words += ["--set", setting]
            runs = []
            for seed in range(1, arguments.seeds + 1):
                tail = [str(program), structure, how, str(arguments.harts), str(count)]
                runs.append(run(machine, [*words, "--seed", str(seed), "--tx-limit", "64", *tail]))
            mean = {
                name: statistics.fmean(counts.get(name, 0) for _, counts in runs)
                for name in (
                    "transactions",
                    "restarts",
                    "unique_restarts",
                    "fallbacks",
                    "backoff_cycles",
                    "stalls",
                )
            }
            cycles = statistics.fmean(cycles for cycles, _ in runs)
            results.append(Result(structure, how, choice, cycles, **mean))
            print(results[-1], file=sys.stderr)
    return results


def table(results: list[Result]) -> str:
    """Cycles relative to the defaults, and restarts in percent, a row for each choice."""
    by = {(result.structure, result.choice): result for result in results}
    lines = [
        "| choice | " + " | ".join(f"{name}: time, restarts" for name in STRUCTURES) + " |",
        "|---|" + "---|" * len(STRUCTURES),
    ]
    for choice in ["defaults", "lock", *choices()]:
        cells = []
        for structure in STRUCTURES:
            one, base = by[structure, choice], by[structure, "defaults"]
            cells.append(f"{one.cycles / base.cycles:.2f}, {one.restart_percent:.1f} %")
        lines.append(f"| {choice} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=str(SOURCE / "build/release"), help="a build tree")
    parser.add_argument("--harts", type=int, default=8)
    parser.add_argument("--scale", type=int, default=100, help="percent of the operations")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("output", help="a JSON file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "structures"
        cross = ["riscv64-linux-gnu-gcc", "-O2", "-static", "-pthread", f"-I{SOURCE / 'include'}"]
        source = SOURCE / "workloads/metatm/structures.c"
        subprocess.run([*cross, "-o", str(program), str(source)], check=True)
        results = measure(arguments, program)
    text = json.dumps(
        {
            "harts": arguments.harts,
            "seeds": arguments.seeds,
            "scale_percent": arguments.scale,
            "results": [asdict(result) for result in results],
        },
        indent=2,
    )
    Path(arguments.output).write_text(text + "\n", encoding="utf-8")
    print(table(results), end="")


if __name__ == "__main__":
    main()
