# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Load over sockets: libmemcached's memaslap (memcaslap in Debian) and memcslap against one server
after the other. Variants take turns, round by round.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CommandError, UserError
from tandem.statistics import median
from tandem.workload.server import ending, serving
from tandem.workload.steps import say

__all__ = ["TOOLS", "Measured", "Round", "Tool", "find_tool", "load", "load_json", "print_load"]

PACKAGE = "libmemcached-tools"
# All fits, so that no answer may be a miss.
SERVER_OPTIONS = ("-m", "1024")
TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True)
class Round:
    operations: int  # of the measured part
    seconds: float  # as the tool measures them
    all_operations: int  # with those that fill the cache
    cpu_seconds: float  # of the server, user and kernel, for all operations


@dataclass(frozen=True)
class Measured:
    """The rounds of one variant; round i took turns with the others'."""

    variant: str
    rounds: tuple[Round, ...]


@dataclass(frozen=True)
class Tool:
    summary: str
    programs: tuple[str, ...]  # its names, the one in Debian first
    over: tuple[str, ...]  # what it can connect over
    options: Callable[[str, int], list[str]]  # for an address and a number of operations
    read: Callable[[str], tuple[int, float, int]]  # operations, seconds, all; ValueError


_CONNECTIONS = 8  # of memcslap, each with a thread


def _memaslap_options(address: str, operations: int) -> list[str]:
    # One thread with 16 connections, as its manual's defaults; a tenth of the values is compared.
    return ["-s", address, "-T", "1", "-c", "16", "-x", str(operations), "-v", "0.1"]


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise ValueError(f"it has not printed what matches {pattern}")
    return float(found[1])


def _read_memaslap(text: str) -> tuple[int, float, int]:
    for name in ("get_misses", "verify_misses", "verify_failed"):
        count = int(_number(rf"^{name}: (\d+)$", text))
        if count:
            raise ValueError(f"{name} is {count}, where nothing may be lost or changed")
    operations = int(_number(r"Ops: (\d+)", text))
    rate = _number(r"TPS: (\d+)", text)
    if not operations or not rate:
        raise ValueError("it has done nothing")
    # Its run time has one digit after the point; the rate has all.
    return operations, operations / rate, operations


def _memcslap_options(address: str, operations: int) -> list[str]:
    each = max(1, operations // _CONNECTIONS)
    told = {"servers": address, "test": "get", "concurrency": _CONNECTIONS, "execute-number": each}
    return [f"--{name}={value}" for name, value in told.items()]


def _read_memcslap(text: str) -> tuple[int, float, int]:
    got = re.search(r"^Time to get +(\d+) keys by +\d+ threads: +([\d.]+) sec", text, re.MULTILINE)
    if got is None or float(got[2]) <= 0:
        raise ValueError("it has not printed how long it took to get keys")
    stored = int(_number(r"^Time to set +(\d+) keys: ", text))
    return int(got[1]), float(got[2]), int(got[1]) + stored


TOOLS = {
    "memaslap": Tool(
        "90 % get, 10 % set of 1 KB, 16 connections; a tenth of the values is compared",
        ("memcaslap", "memaslap"),
        ("tcp",),
        _memaslap_options,
        _read_memaslap,
    ),
    "memcslap": Tool(
        f"stores keys, and gets each by {_CONNECTIONS} connections at once",
        ("memcslap",),
        ("tcp", "unix"),
        _memcslap_options,
        _read_memcslap,
    ),
}


def find_tool(name: str) -> str:
    """Its path. UserError where it is not installed."""
    for program in TOOLS[name].programs:
        if found := shutil.which(program):
            return found
    raise UserError(f"{name} is not installed; run: apt-get install {PACKAGE}")


def load(
    programs: Mapping[str, Path],
    tool: str,
    over: str,
    *,
    threads: int,
    rounds: int,
    operations: int,
    environment: Mapping[str, str],
) -> list[Measured]:
    """Starts each of `programs`, by variant, and puts the tool's load on it, `rounds` times in
    turn; `over` is one that the tool has. CommandError where the tool or memcached fails, or where
    an answer was wrong.
    """
    found = find_tool(tool)
    results: dict[str, list[Round]] = {}
    for number in range(rounds):
        for variant, program in programs.items():
            say(f"load: round {number + 1} of {rounds}: {variant}")
            one = _run(program, found, TOOLS[tool], over, threads, operations, environment)
            results.setdefault(variant, []).append(one)
    return [Measured(variant, tuple(x)) for variant, x in results.items()]


def _run(
    program: Path,
    found: str,
    tool: Tool,
    over: str,
    threads: int,
    operations: int,
    environment: Mapping[str, str],
) -> Round:
    with serving(program, over, threads, SERVER_OPTIONS, environment) as server:
        before = server.cpu_seconds()
        try:
            done = subprocess.run(
                [found, *tool.options(server.address, operations)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CommandError(f"{found}: took more than {TIMEOUT_SECONDS:.0f} s") from error
        if server.process.poll() is not None:
            raise server.failure(f"ended under load, with {ending(server.process.returncode)}")
        cpu = server.cpu_seconds() - before
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise CommandError(f"{found}: {why}")
    try:
        return Round(*tool.read(done.stdout), cpu)
    except ValueError as error:
        raise CommandError(f"{found} against {program}: {error}") from error


def print_load(results: Sequence[Measured], tool: str, over: str) -> None:
    """A table: medians, and ratios to the first variant, round by round."""
    print(f"\n{tool} over {over}: {TOOLS[tool].summary}\n")
    print("  variant     operations/s   ratio (spread)       server's CPU ns/operation   ratio")
    rates = [[x.operations / x.seconds for x in result.rounds] for result in results]
    costs = [[1e9 * x.cpu_seconds / x.all_operations for x in r.rounds] for r in results]
    for result, rate, cost in zip(results, rates, costs, strict=True):
        speed = [b / a for a, b in zip(rates[0], rate, strict=True)]
        cpu = [a / b for a, b in zip(costs[0], cost, strict=True)]
        print(
            f"  {result.variant:<12}{median(rate):>12,.0f}"
            f"{median(speed):>8.2f} ({min(speed):.2f} - {max(speed):.2f})"
            f"{median(cost):>28,.0f}{median(cpu):>8.2f}"
        )


def load_json(results: Sequence[Measured], tool: str, over: str) -> str:
    """All rounds."""
    runs = [{"variant": x.variant, "rounds": [vars(one) for one in x.rounds]} for x in results]
    return json.dumps({"version": 1, "tool": tool, "over": over, "runs": runs}, indent=1) + "\n"
