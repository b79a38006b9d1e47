# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store in process: one stream of a cache's operations, variants in turn, round by round."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import CommandError, UserError
from tandem.statistics import median
from tandem.workload.server import ending
from tandem.workload.steps import say

__all__ = ["Machine", "Replayed", "print_replay", "replay", "replay_json", "run_once"]


@dataclass(frozen=True)
class Replayed:
    """One variant at one point; round i took turns with the others'."""

    variant: str
    threads: int
    s: float
    rounds: tuple[Mapping[str, Any], ...]  # what the program wrote

    def rates(self) -> list[float]:
        """Operations a second."""
        return [float(x["operations"]) / float(x["seconds"]) for x in self.rounds]

    def user_ns(self) -> list[float]:
        """Of an operation."""
        return [1e9 * float(x["user_seconds"]) / float(x["operations"]) for x in self.rounds]


@dataclass(frozen=True)
class Machine:
    """The simulated one. With a protocol, what a program says is to be measured has time."""

    prefix: Path
    protocol: str | None

    def command(self, variant: str, harts: int) -> list[str]:
        """What runs a program of that variant."""
        command = [str(self.prefix / "bin" / "tandem"), "machine", "exec", "--quiet"]
        if self.protocol is not None:
            command += ["--mode", "functional", "--protocol", self.protocol]
        if variant == "stm":
            command += ["--env", "TANDEM_HARDWARE=off"]
        return [*command, "--harts", str(harts)]


def run_once(
    program: Path,
    options: Sequence[str],
    environment: Mapping[str, str],
    timeout_s: float = 900,
    under: Sequence[str] = (),
) -> Mapping[str, Any]:
    """One run's line of JSON, `under` another command where there is one. CommandError where
    something wrong was found, UserError where the program refuses its options.
    """
    try:
        done = subprocess.run(
            [*under, str(program), *options],
            env=dict(environment),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{program}: did not end within {timeout_s:.0f} s") from error
    said = done.stderr.strip().splitlines()
    if done.returncode == 2 and said:
        raise UserError(said[-1])
    if done.returncode != 0:
        why = next((x for x in said if x.startswith("replay: ")), said[0] if said else "")
        raise CommandError(f"{program}: {ending(done.returncode)}: {why}")
    result: Mapping[str, Any] = json.loads(done.stdout)
    return result


def replay(
    programs: Mapping[str, Path],
    options: Sequence[str],
    *,
    threads: Sequence[int],
    laws: Sequence[float],
    rounds: int,
    seed: int,
    environment: Mapping[str, str],
    machine: Machine | None = None,
) -> list[Replayed]:
    """Runs each of `programs`, by variant, with each number of threads and each exponent of Zipf's
    law, `rounds` times in turn; on a `machine` each thread has a hart.
    """
    results: dict[tuple[float, int, str], list[Mapping[str, Any]]] = {}
    for number in range(rounds):
        for s in laws:
            for count in threads:
                for variant, program in programs.items():
                    if variant == "sequential" and count > 1:
                        continue
                    say(f"replay: round {number + 1} of {rounds}: {variant}, s {s}, {count}")
                    told = [f"--threads={count}", f"--s={s}", f"--seed={seed + number}", *options]
                    under = machine.command(variant, count) if machine is not None else ()
                    one = run_once(program, told, environment, under=under)
                    results.setdefault((s, count, variant), []).append(one)
    return [Replayed(v, count, s, tuple(x)) for (s, count, v), x in results.items()]


def print_replay(results: Sequence[Replayed], simulated: bool = False) -> None:
    """A table: medians, and ratios of throughput to the first variant at the same point, paired by
    round. `simulated`: a second has 10^9 cycles of harts.
    """
    last = "cycles" if simulated else "user ns"
    print(
        f"\n  s     threads   variant        operations/s   ratio (spread)          hits   {last}"
    )
    for result in results:
        first = next(x for x in results if (x.s, x.threads) == (result.s, result.threads))
        ratios = [a / b for a, b in zip(result.rates(), first.rates(), strict=True)]
        hit_rate = median([float(x["hit_rate"]) for x in result.rounds])
        cost = [1e9 * result.threads / x for x in result.rates()] if simulated else result.user_ns()
        print(
            f"  {result.s:<6g}{result.threads:>7}   {result.variant:<12}"
            f"{median(result.rates()):>15,.0f}"
            f"{median(ratios):>8.2f} ({min(ratios):.2f} - {max(ratios):.2f})"
            f"{100 * hit_rate:>12.2f} %{median(cost):>10,.0f}"
        )


def replay_json(results: Sequence[Replayed]) -> str:
    runs = [
        {"variant": x.variant, "threads": x.threads, "s": x.s, "rounds": [*x.rounds]}
        for x in results
    ]
    return json.dumps({"version": 1, "runs": runs}, indent=1) + "\n"
