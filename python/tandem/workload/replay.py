# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Load inside the process: memcached with clients preloaded (workloads/memcached/replay), which ask
and check without sockets. Variants take turns, so that what else the machine does meets all alike.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import CommandError, UserError
from tandem.paths import ROOT
from tandem.statistics import median
from tandem.workload.server import ending
from tandem.workload.steps import must_run, say

__all__ = [
    "HASH_POWER",
    "LOADS",
    "Load",
    "LockCount",
    "Replayed",
    "build_clients",
    "build_sockets",
    "count_locks",
    "print_locks",
    "print_replay",
    "replay",
    "replay_json",
    "run_once",
]

SOURCES = ROOT / "workloads" / "memcached" / "replay"
SOCKETS = ROOT / "workloads" / "memcached" / "sockets" / "sockets.c"
# Load `mixed`: its table has 2^14 buckets, and doubles them when there are one and a half times as
# many items. Not twice: when it grows again soon after, memcached can dead-lock, whoever built it
# (docs/memcached.md); hence so few keys.
HASH_POWER = 14


@dataclass(frozen=True)
class Load:
    """What the clients ask (settings of replay.c), and how memcached is started for it."""

    summary: str
    settings: Mapping[str, str | int]
    options: tuple[str, ...]


LOADS = {
    "cache": Load(
        "90 % get, 10 % set, Zipf 0.99, all fits; every answer checked",
        {"keys": 100_000, "exact": 1, "set": 10},
        ("-m", "1024"),
    ),
    "speed": Load(
        "the same, answers not looked at: for measuring",
        {"keys": 100_000, "set": 10, "check": 0},
        ("-m", "1024"),
    ),
    "mixed": Load(
        "all commands; memory full, hash table growing; slabs moved, items crawled; checked",
        {
            "keys": 40_000,
            "set": 20,
            "incr": 10,
            "delete": 3,
            "touch": 5,
            "value-most": 8000,
            "admin": "slabs automove 2;stats;lru_crawler crawl all;stats slabs;stats items",
            "admin-every": 2000,
        },
        ("-m", "48", "-o", f"hashpower={HASH_POWER},slab_reassign,slab_automove=2"),
    ),
    "store": Load(
        "only set, 1 KB; answers not looked at: as the ASPLOS 2014 paper has it",
        {"keys": 100_000, "set": 100, "check": 0, "value-most": 1024},
        ("-m", "1024"),
    ),
    "counters": Load(
        "increments of few counters, whose sums must be right in the end",
        {"keys": 1000, "exact": 1, "counters": 4, "set": 10, "incr": 60, "delete": 5},
        ("-m", "256"),
    ),
}


@dataclass(frozen=True)
class Replayed:
    """The rounds of one variant with some threads; round i took turns with the others'."""

    variant: str
    threads: int
    rounds: tuple[Mapping[str, Any], ...]

    def per_operation(self, field: str) -> list[float]:
        """Of each round, in nanoseconds of `seconds` or `user_seconds`."""
        return [1e9 * float(x[field]) / float(x["operations"]) for x in self.rounds]


@dataclass(frozen=True)
class LockCount:
    """How many locks of its own one variant acquires an operation, with some threads."""

    variant: str
    threads: int
    per_operation: float


def build_clients(folder: Path) -> Path:
    """The library that is preloaded. CommandError where it cannot be built."""
    sources = sorted(SOURCES.glob("*.c"))
    return _compile(folder / "replay" / "libreplay.so", ["-fPIC", "-shared"], sources)


def build_sockets(folder: Path) -> Path:
    """The same clients as a program that connects over sockets. CommandError as above."""
    sources = [SOCKETS, SOURCES / "client.c", SOURCES / "load.c"]
    return _compile(folder / "replay" / "sockets", [f"-I{ROOT / 'include'}"], sources)


def _compile(output: Path, options: Sequence[str], sources: Sequence[Path]) -> Path:
    """Compiles where the command, the compiler, a source or a header has changed."""
    output.parent.mkdir(parents=True, exist_ok=True)
    compiler = ["gcc", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", *options]
    compiler.append(f"-I{ROOT / 'workloads'}")
    command = [*compiler, "-o", str(output), *map(str, sources), "-lm"]
    key = "\n".join([*command, _preprocessed([*compiler, "-E", "-dD", *map(str, sources)])]) + "\n"
    stamp = output.with_suffix(".key")
    if output.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == key:
        return output
    log = output.parent / f"{output.stem}.log"
    stamp.unlink(missing_ok=True)
    must_run(command, folder=output.parent, environment=dict(os.environ), log=log)
    stamp.write_text(key, encoding="utf-8")
    return output


def _preprocessed(command: Sequence[str]) -> str:
    """The digest of what is compiled, with the compiler's own macros, its version among them."""
    text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return hashlib.sha256(text.stdout).hexdigest()


def replay(
    programs: Mapping[str, Path],
    library: Path,
    load: Load,
    *,
    threads: Sequence[int],
    rounds: int,
    operations: int,
    seed: int,
    environment: Mapping[str, str],
) -> list[Replayed]:
    """Runs each of `programs`, by variant, with each number of threads, `rounds` times in turn.
    CommandError where an answer was wrong or memcached failed.
    """
    results: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for number in range(rounds):
        for count in threads:
            for variant, program in programs.items():
                say(f"replay: round {number + 1} of {rounds}: {variant}, {count} threads")
                settings = {"operations": operations, "seed": seed + number, **load.settings}
                one = run_once(program, library, load, settings, count, environment)
                results.setdefault((variant, count), []).append(one)
    return [Replayed(variant, count, tuple(x)) for (variant, count), x in results.items()]


def run_once(
    program: Path,
    library: Path,
    load: Load,
    settings: Mapping[str, str | int],
    threads: int,
    environment: Mapping[str, str],
    preload: Sequence[Path] = (),
    timeout_s: float | None = None,
) -> Mapping[str, Any]:
    """One run, and what the clients wrote of it. CommandError as above."""
    with tempfile.TemporaryDirectory(prefix="tandem-replay-") as folder:
        output = Path(folder) / "result.json"
        told = ",".join(f"{name}={value}" for name, value in settings.items())
        command = [str(program), "-u", "root", "-s", f"{folder}/socket", "-t", str(threads)]
        try:
            done = subprocess.run(
                [*command, *load.options],
                env=dict(environment)
                | {
                    "LD_PRELOAD": " ".join(map(str, (library, *preload))),
                    "TANDEM_REPLAY": f"{told},output={output}",
                },
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=timeout_s,
            )
        except subprocess.TimeoutExpired as error:
            raise CommandError(
                f"{program}: not all was answered within {timeout_s:.0f} s "
                f"(seed {settings.get('seed', 1)})"
            ) from error
        # The replay ends memcached by SIGINT, which it answers with status 0.
        if done.returncode != 0 or not output.exists():
            if done.returncode == 2 and "TANDEM_REPLAY" in done.stderr:
                raise UserError(done.stderr.strip().splitlines()[-1])
            said = done.stderr.strip().splitlines()[-1:]
            if done.returncode < 0 or not said:
                said.insert(0, ending(done.returncode))
            why = ": ".join(said)
            raise CommandError(f"{program}: {why}")
        result: Mapping[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return result


# Outputs whose locks are not memcached's: the clients, and what enforces sections.
_OTHERS = ("libreplay.so", "libtandem", "libitm.so")


def _own_acquisitions(profile: Path) -> int:
    """Of a profile of locks; CommandError where it is none."""
    try:
        locks = json.loads(profile.read_text(encoding="utf-8"))["locks"]
        return sum(
            int(x["acquisitions"])
            for x in locks
            if not Path(x["object"]["output"]).name.startswith(_OTHERS)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{profile}: is not a profile of locks: {error}") from error


def count_locks(
    programs: Mapping[str, Path],
    library: Path,
    profiler: Path,
    load: Load,
    *,
    threads: Sequence[int],
    operations: int,
    seed: int,
    environment: Mapping[str, str],
) -> list[LockCount]:
    """Runs each of `programs` once more with each number of threads, its locks counted by
    `profiler` (libtandem_locks.so). Sections that may hold either are transactions.
    """
    counts = []
    for number in threads:
        for variant, program in programs.items():
            say(f"locks: {variant}, {number} threads")
            with tempfile.TemporaryDirectory(prefix="tandem-locks-") as folder:
                profile = Path(folder) / "locks.json"
                settings = {"operations": operations, "seed": seed, **load.settings}
                told = dict(environment) | {
                    "TANDEM_LOCK_PROFILE": str(profile),
                    "TANDEM_HYBRID": "transactions",
                }
                run = run_once(program, library, load, settings, number, told, (profiler,))
                share = _own_acquisitions(profile) / int(run["operations"])
            counts.append(LockCount(variant, number, share))
    return counts


def print_locks(counts: Sequence[LockCount]) -> None:
    """A table: what is left of the first variant's acquisitions in the others."""
    print("\n  variant     threads   locks/operation   of the first's, converted")
    for count in counts:
        first = next(x for x in counts if x.threads == count.threads)
        gone = 1 - count.per_operation / first.per_operation if first.per_operation else 0.0
        converted = "" if count is first else f"{100 * gone:>25.2f} %"
        print(f"  {count.variant:<12}{count.threads:>7}{count.per_operation:>18.3f}{converted}")


def print_replay(results: Sequence[Replayed], load: Load) -> None:
    """A table: medians, and ratios of throughput to the first variant with as many threads, round
    by round.
    """
    print(f"\n{load.summary}\n")
    print("  variant     threads   operations/s   ratio (spread)         user ns/operation   ratio")
    for result in results:
        first = next(x for x in results if x.threads == result.threads)
        wall = _ratios(first.per_operation("seconds"), result.per_operation("seconds"))
        user = _ratios(first.per_operation("user_seconds"), result.per_operation("user_seconds"))
        rate = 1e9 / median(result.per_operation("seconds"))
        print(
            f"  {result.variant:<12}{result.threads:>7}{rate:>15,.0f}"
            f"{median(wall):>8.2f} ({min(wall):.2f} - {max(wall):.2f})"
            f"{median(result.per_operation('user_seconds')):>22,.0f}{median(user):>8.2f}"
        )


def _ratios(base: Sequence[float], times: Sequence[float]) -> list[float]:
    return [b / t for b, t in zip(base, times, strict=True)]


def replay_json(results: Sequence[Replayed]) -> str:
    """All rounds, as the clients wrote them."""
    runs = [{"variant": x.variant, "threads": x.threads, "rounds": [*x.rounds]} for x in results]
    return json.dumps({"version": 1, "runs": runs}, indent=1) + "\n"
