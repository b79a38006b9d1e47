# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A soak: memcached with eight threads under all commands, while its memory is too small, its hash
table grows, pages move between slab classes and the lists are crawled. Every answer is checked.

Rounds of three kinds follow each other, each with another seed, until the time is over:

- inside: the clients are in the process (`replay`), which exercises sections most;
- killed: over a unix socket; the server gets SIGKILL at a random moment;
- after: a server that is started anew at the socket that the killed one left behind, over sockets
  to the end. Its statistics tell whether all that a soak is to exercise has happened.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tandem.errors import CommandError
from tandem.workload.replay import HASH_POWER, LOADS, Load, run_once
from tandem.workload.server import Server, ending, serving
from tandem.workload.steps import say

__all__ = ["EVENTS", "SANITIZER_OPTIONS", "Soaked", "print_soak", "soak"]

CLIENTS = 16
UNREACHABLE = 3  # status of sockets.c's clients where the server went away
ROUND_SECONDS = 300.0  # far above the few that a round takes; a deadlock ends by it
LAST_SECONDS = 1.0  # for a server that is dying to be gone, before its end is told
SANITIZER_OPTIONS = "detect_leaks=0:exitcode=99"
# What must happen at least once in a soak, and the statistics that tell.
EVENTS = {
    "evictions": "evictions",
    "slab pages moved": "slabs_moved",
    "items crawled": "crawler_items_checked",
    "items moved by LRU": "moves_to_cold",
    "hash table growth": "hash_power_level",  # above that of the load's options
}
_LONGEST_LINE = 1 << 16  # bytes; of statistics, far above what memcached has


@dataclass
class Soaked:
    seconds: float = 0.0
    rounds: dict[str, int] = field(default_factory=dict)
    checked: int = 0  # answers, of rounds that came to their end
    events: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EVENTS, 0))

    def problems(self) -> list[str]:
        """What did not happen, so that the soak says nothing about it."""
        return [f"no {name}" for name, count in self.events.items() if count == 0]


def soak(
    program: Path,
    library: Path,
    sockets: Path,
    *,
    minutes: float,
    threads: int,
    operations: int,
    seed: int,
    environment: Mapping[str, str],
) -> Soaked:
    """Runs all three kinds of rounds at least once. CommandError, with the seed, where an answer
    was wrong, where memcached failed, or where a round did not end.
    """
    told = dict(environment) | {"ASAN_OPTIONS": SANITIZER_OPTIONS}
    generator = random.Random(seed)
    begin = time.monotonic()
    end = begin + 60 * minutes
    result = Soaked(rounds={"inside": 0, "killed": 0, "after": 0})
    number = 0
    while number == 0 or time.monotonic() < end:
        of_round = seed + number
        load = _load(operations, of_round)
        left = max(0.0, end - time.monotonic())
        say(f"soak: round {number + 1}, seed {of_round}, {left / 60:.1f} minutes left")
        after_s = generator.uniform(0.2, 4.0)
        try:
            _round(program, library, sockets, load, threads, told, after_s, result)
        except CommandError as error:
            told_seed = f"(seed {of_round})"
            raise CommandError(
                str(error) if told_seed in str(error) else f"{error} {told_seed}"
            ) from error
        number += 1
    result.seconds = time.monotonic() - begin
    return result


def _round(
    program: Path,
    library: Path,
    sockets: Path,
    load: Load,
    threads: int,
    environment: Mapping[str, str],
    after_s: float,
    result: Soaked,
) -> None:
    """One of each kind; SIGKILL comes `after_s` seconds after the clients."""
    inside = run_once(
        program, library, load, load.settings, threads, environment, timeout_s=ROUND_SECONDS
    )
    result.rounds["inside"] += 1
    result.checked += int(inside["checked"])
    with tempfile.TemporaryDirectory(prefix="tandem-soak-") as name:
        folder = Path(name)
        _killed(program, sockets, load, threads, folder, environment, after_s)
        result.rounds["killed"] += 1
        _after(program, sockets, load, threads, folder, environment, result)
        result.rounds["after"] += 1


def _load(operations: int, seed: int) -> Load:
    mixed = LOADS["mixed"]
    settings = {**mixed.settings, "clients": CLIENTS, "operations": operations, "seed": seed}
    return Load(mixed.summary, settings, mixed.options)


def _clients(
    sockets: Path, load: Load, address: str, output: Path, environment: Mapping[str, str]
) -> subprocess.Popen[str]:
    told = ",".join(f"{name}={value}" for name, value in load.settings.items())
    return subprocess.Popen(
        [str(sockets), address],
        env=dict(environment) | {"TANDEM_REPLAY": f"{told},output={output}"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def _wait(clients: subprocess.Popen[str], server: Server, load: Load) -> tuple[int, str]:
    """The clients' status, and what they said. CommandError where they did not end."""
    try:
        _, said = clients.communicate(timeout=ROUND_SECONDS)
    except subprocess.TimeoutExpired:
        clients.kill()
        clients.wait()
        raise server.failure(
            f"has not answered all within {ROUND_SECONDS:.0f} s (seed {load.settings['seed']})"
        ) from None
    return clients.returncode, said.strip()


def _killed(
    program: Path,
    sockets: Path,
    load: Load,
    threads: int,
    folder: Path,
    environment: Mapping[str, str],
    after_s: float,
) -> None:
    with serving(program, "unix", threads, load.options, environment, folder) as server:
        clients = _clients(sockets, load, server.address, folder / "killed.json", environment)
        we_killed = False
        try:
            clients.wait(timeout=after_s)
        except subprocess.TimeoutExpired:
            we_killed = server.process.poll() is None
            server.process.kill()
        status, said = _wait(clients, server, load)
        # Clients that came to their end before have had all their answers.
        if status not in ((0, UNREACHABLE) if we_killed else (0,)):
            raise _lost(server, status, said)
        if not we_killed:
            we_killed = server.process.poll() is None
            server.process.kill()
        server.process.wait()
        if not we_killed or server.process.returncode != -signal.SIGKILL:
            raise server.failure(f"{ending(server.process.returncode)} before it was killed")


def _lost(server: Server, status: int, said: str) -> CommandError:
    """Why clients failed; and how the server ended, if it did."""
    why = said or f"its clients ended with {ending(status)}"
    if status == UNREACHABLE:
        # Clients may notice before it is gone.
        with contextlib.suppress(subprocess.TimeoutExpired):
            why += f"; it ended with {ending(server.process.wait(timeout=LAST_SECONDS))}"
    return server.failure(why)


def _after(
    program: Path,
    sockets: Path,
    load: Load,
    threads: int,
    folder: Path,
    environment: Mapping[str, str],
    result: Soaked,
) -> None:
    output = folder / "after.json"
    with serving(program, "unix", threads, load.options, environment, folder) as server:
        clients = _clients(sockets, load, server.address, output, environment)
        status, said = _wait(clients, server, load)
        if status != 0:
            raise _lost(server, status, said)
        statistics = _statistics(server)
    result.checked += int(json.loads(output.read_text(encoding="utf-8"))["checked"])
    for name, key in EVENTS.items():
        count = statistics.get(key, 0)
        result.events[name] += count - HASH_POWER if key == "hash_power_level" else count


def _statistics(server: Server) -> dict[str, int]:
    """Those of memcached's that are whole numbers. CommandError where it does not tell them all."""
    lines: list[list[bytes]] = []
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ROUND_SECONDS)
            connection.connect(server.address)
            connection.sendall(b"stats\r\n")
            with connection.makefile("rb") as answer:
                while (line := answer.readline(_LONGEST_LINE)) != b"END\r\n":
                    if not line:
                        raise server.failure("hung up before the end of its statistics")
                    lines.append(line.split())
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise server.failure(f"went away while asked for statistics: {why}") from error
    if not lines:
        raise server.failure("it has no statistics")
    return {
        x[1].decode(errors="replace"): int(x[2]) for x in lines if len(x) == 3 and x[2].isdigit()
    }


def print_soak(result: Soaked, name: str) -> bool:
    """The summary; whether all that was to happen has happened."""
    print(f"\nmemcached ({name}): soaked for {result.seconds:.0f} s; every answer was right")
    for kind, count in result.rounds.items():
        print(f"  rounds {kind:<18}{count:>12,}")
    print(f"  {'answers checked':<25}{result.checked:>12,}")
    for event, count in result.events.items():
        print(f"  {event:<25}{count:>12,}")
    problems = result.problems()
    for text in problems:
        print(f"FAILED: {text}: run it for longer, or with more operations")
    print("passed" if not problems else "failed")
    return not problems
