# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Minutes of load on one server, every answer compared: pages, streams, revalidations, an origin
that breaks off, clients that hang up, restarts, and where processes share the cache, kills. And in
turn the replay of the store, with and without processes that are killed.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tandem.workload.apache.checks import TIMEOUT_S, fetch
from tandem.workload.apache.httpd import Httpd, Site, serving
from tandem.workload.apache.origin import contents, origin
from tandem.workload.apache.replay import run_once
from tandem.workload.steps import say

__all__ = ["SoakResult", "print_soak", "soak"]

CLIENTS = 8
ROUND_S = 30.0  # of load on one server


@dataclass
class SoakResult:
    seed: int
    rounds: int = 0
    answers: Counter[str] = field(default_factory=Counter)  # by X-Cache
    restarts: int = 0
    kills: int = 0
    hung_up: int = 0
    replayed: int = 0  # operations
    counts: Counter[str] = field(default_factory=Counter)  # mod_cache_tandem's
    wrong: list[str] = field(default_factory=list)


def _expected(path: str) -> bytes:
    kind, rest = path.removeprefix("/").split("/", 1)
    return contents(path, 3000 if kind == "validate" else int(rest.partition("/")[0]))


def _some_path(chooser: random.Random) -> str:
    kind = chooser.choices(("page", "stream", "validate", "broken", "slow"), (60, 20, 14, 4, 2))[0]
    number = int(chooser.paretovariate(0.7)) % 3000
    if kind == "validate":
        return f"/validate/{number}"
    return f"/{kind}/{100 + number * 7919 % 60000}/{number}"


def _client(
    server: Httpd, seed: int, stop: threading.Event, killing: bool, result: SoakResult
) -> None:
    chooser = random.Random(seed)
    while not stop.is_set() and not result.wrong:
        path = _some_path(chooser)
        if chooser.random() < 0.02:
            with contextlib.suppress(OSError), socket.socket() as client:
                client.settimeout(TIMEOUT_S)
                client.connect(("127.0.0.1", server.port))
                client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                client.recv(500)
            result.hung_up += 1
            continue
        try:
            answer = fetch(server.port, path)
        except (OSError, http.client.HTTPException) as error:
            if not killing and not path.startswith("/broken"):
                result.wrong.append(f"{path}: {error!r}")
            continue
        result.answers[answer.cache or "none"] += 1
        if path.startswith("/broken"):
            if answer.cache == "HIT":
                result.wrong.append(f"{path}: half a response was stored")
        elif (answer.complete or not killing) and (
            answer.status != 200 or answer.body != _expected(path)
        ):
            result.wrong.append(f"{path}: status {answer.status}, {len(answer.body)} bytes")


def _disturb(server: Httpd, seed: int, end_s: float, killing: bool, result: SoakResult) -> None:
    chooser = random.Random(seed)
    while time.monotonic() < end_s and not result.wrong:
        time.sleep(chooser.uniform(1, 4))
        children = server.children()
        if killing and children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chooser.choice(children), signal.SIGKILL)
            result.kills += 1
        else:
            server.graceful()
            result.restarts += 1


def _serve(
    module: Path, environment: dict[str, str], number: int, seconds: float, result: SoakResult
) -> None:
    """One server: of one process with its own store, of three that share one, and of three of
    which some are killed, in turn.
    """
    shared, killing = number % 3 > 0, number % 3 == 2
    settings = ["CacheTandemSize 8M", f"CacheTandemShared {'On' if shared else 'Off'}"]
    settings += [f"CacheTandemPolicy {('GDSF', 'LRU')[number % 2]}"]
    seed = result.seed + number
    with origin() as source:
        body = f'ProxyPass / "http://127.0.0.1:{source.port}/"'
        site = Site("tandem", module, body, settings, 3 if shared else 1, 16, environment)
        with serving(site) as server:
            stop = threading.Event()
            clients = [
                threading.Thread(
                    target=_client, args=(server, seed * 1000 + i, stop, killing, result)
                )
                for i in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            try:
                _disturb(server, seed, time.monotonic() + seconds, killing, result)
            finally:
                stop.set()
                for client in clients:
                    client.join()
            with contextlib.suppress(OSError, http.client.HTTPException):
                result.counts.update(server.status())


def soak(
    module: Path,
    program: Path,
    of_server: Mapping[str, str],
    of_program: Mapping[str, str],
    minutes: int,
    seed: int,
) -> SoakResult:
    """Rounds until the minutes are over; the first wrong answer ends it. `of_server`, `of_program`:
    what httpd and the replay have in their environment besides. CommandError where a server
    crashes or the replay finds something wrong.
    """
    result = SoakResult(seed)
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end and not result.wrong:
        say(f"soak: round {result.rounds + 1}, seed {seed + result.rounds}")
        left = min(ROUND_S, max(5.0, end - time.monotonic()))
        _serve(module, dict(of_server), result.rounds, left, result)
        for options in (
            ("--threads=8", "--operations=10000"),
            ("--threads=2", "--processes=3", "--operations=10000", "--kills=8"),
        ):
            told = [*options, "--check", "--bytes=3000000", f"--seed={seed + result.rounds}"]
            one = run_once(program, told, {**os.environ, **of_program})
            result.replayed += int(one["operations"])
        result.rounds += 1
    return result


def print_soak(result: SoakResult, variant: str) -> bool:
    """The summary; whether all was right, and all that is to be disturbed was."""
    print(f"\nsoak ({variant}): {result.rounds} rounds, seeds from {result.seed}")
    answers = ", ".join(f"{count} {name}" for name, count in sorted(result.answers.items()))
    print(f"  answers compared   {answers}")
    print(f"  clients hung up    {result.hung_up}")
    print(f"  graceful restarts  {result.restarts}")
    print(f"  processes killed   {result.kills}")
    print(f"  replayed           {result.replayed} operations, compared")
    for name in ("Evicted", "Replaced", "Rebuilds", "Transactions", "Aborts"):
        print(f"  {name.lower():<18} {result.counts[name]}")
    wrong = list(result.wrong)
    if result.rounds >= 3:
        for name, count in (
            ("hit", result.answers["HIT"]),
            ("revalidation", result.answers["REVALIDATE"]),
            ("restart", result.restarts),
            ("killed process", result.kills),
            ("client that hung up", result.hung_up),
        ):
            if not count:
                wrong.append(f"there was no {name}")
    for text in wrong[:5]:
        print(f"FAILED: {text}")
    print("passed" if not wrong else "failed")
    return not wrong
