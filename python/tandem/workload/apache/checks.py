# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What mod_cache_tandem must do that http-cache-tests does not ask: each check is one function,
which gives null or what is wrong. The same checks of a shipped cache show what that lacks.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tandem.errors import CommandError
from tandem.workload.apache.httpd import Httpd, Site, check_configuration, serving
from tandem.workload.apache.origin import Origin, contents, origin
from tandem.workload.steps import say

__all__ = ["CHECKS", "Answer", "Check", "fetch", "run_checks"]

TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    cache: str  # X-Cache's first word: HIT, MISS, REVALIDATE
    complete: bool = True


def fetch(port: int, path: str, headers: dict[str, str] | None = None) -> Answer:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        cache = (answer.getheader("X-Cache") or "").partition(" ")[0]
        try:
            return Answer(answer.status, answer.read(), cache)
        except http.client.IncompleteRead as error:
            return Answer(answer.status, error.partial, cache, complete=False)
    finally:
        connection.close()


def _right(answer: Answer, path: str, count: int) -> bool:
    return answer.status == 200 and answer.complete and answer.body == contents(path, count)


def _twice(port: int, path: str, count: int) -> str | None:
    for wanted in ("MISS", "HIT"):
        answer = fetch(port, path)
        if not _right(answer, path, count):
            return f"{path}: a wrong answer of {len(answer.body)} bytes, status {answer.status}"
        if answer.cache != wanted:
            return f"{path}: {answer.cache or 'nothing'} where {wanted} was expected"
    return None


def hits(server: Httpd, source: Origin) -> str | None:
    """A second request is answered from the cache."""
    del source
    return _twice(server.port, "/page/20000/hit", 20000)


def streams(server: Httpd, source: Origin) -> str | None:
    """A response of unknown length is stored."""
    del source
    return _twice(server.port, "/stream/200000/hit", 200000)


def revalidated_body(server: Httpd, source: Origin) -> str | None:
    """The body is there after a 304, and is not asked for again."""
    for number in range(4):
        answer = fetch(server.port, "/validate/kept")
        if answer.body != contents("/validate/kept", 3000):
            return f"answer {number + 1} has {len(answer.body)} bytes, not 3000"
        if number and answer.cache != "REVALIDATE":
            return f"answer {number + 1} is {answer.cache}, not a revalidation"
    return None if source.asked["/validate/kept"] == 4 else "the origin was not asked each time"


def fills_memory(server: Httpd, source: Origin) -> str | None:
    """400 objects of 20 kB are all kept where there is room for three times that."""
    del source
    paths = [f"/page/20000/fill-{i}" for i in range(400)]
    for path in paths:
        fetch(server.port, path)
    kept = sum(fetch(server.port, path).cache == "HIT" for path in paths)
    return None if kept == len(paths) else f"of {len(paths)} objects {kept} are kept"


def varies(server: Httpd, source: Origin) -> str | None:
    """Each variant is served to who asks for it."""
    del source
    for wanted in ("MISS", "HIT"):
        for language in ("en", "de"):
            answer = fetch(server.port, "/varying/a", {"Accept-Language": language})
            if answer.body != f"/varying/a {language}".encode():
                return f"{language} got {answer.body!r}"
            if answer.cache != wanted:
                return f"{language}: {answer.cache} where {wanted} was expected"
    return None


def origin_dies(server: Httpd, source: Origin) -> str | None:
    """Half a response is not stored."""
    for path in ("/broken/100000/x", "/cut/100000/x"):
        for _ in range(3):
            with contextlib.suppress(http.client.HTTPException, ConnectionError):
                if fetch(server.port, path).cache == "HIT":
                    return f"{path}: half a response was served from the cache"
        if source.asked[path] < 3:
            return f"{path}: the origin was asked {source.asked[path]} times, not 3"
    return None


def clients_hang_up(server: Httpd, source: Origin) -> str | None:
    """Clients that go in the middle of a response leave nothing behind that is wrong."""
    del source
    for number in range(40):
        with socket.create_connection(("127.0.0.1", server.port), TIMEOUT_S) as client:
            path = f"/slow/60000/gone-{number % 8}"
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            client.recv(2000)
    for number in range(8):
        path = f"/slow/60000/gone-{number}"
        for _ in range(2):
            if not _right(fetch(server.port, path), path, 60000):
                return f"{path}: a wrong answer"
    return None


def large_headers(server: Httpd, source: Origin) -> str | None:
    """10 MB of headers are refused, and the server goes on."""
    for _ in range(2):
        with contextlib.suppress(http.client.HTTPException, ConnectionError):
            fetch(server.port, "/headers/10000000")
    with contextlib.suppress(http.client.HTTPException, ConnectionError):
        for _ in range(2):
            if fetch(server.port, "/headers/200000").status not in (200, 502):
                return "200 kB of headers gave another status than 200 and 502"
    return hits_of(server, source, "/page/3000/after-headers", 3000)


def hits_of(server: Httpd, source: Origin, path: str, count: int) -> str | None:
    del source
    return _twice(server.port, path, count)


def memory_is_exhausted(server: Httpd, source: Origin) -> str | None:
    """Four times as much as there is room for, by eight clients: all answers are right."""
    del source
    return _clients(server, 8, 120, lambda i: f"/page/100000/much-{i % 800}", 100000)


def graceful_restarts(server: Httpd, source: Origin) -> str | None:
    """No answer is wrong or lost while the server restarts five times."""
    del source
    done = threading.Event()

    def restart() -> None:
        for _ in range(5):
            time.sleep(0.4)
            server.graceful()
        done.set()

    thread = threading.Thread(target=restart)
    thread.start()
    wrong = None
    while not done.is_set() and wrong is None:
        wrong = _clients(server, 4, 40, lambda i: f"/page/30000/restart-{i % 50}", 30000)
    thread.join()
    return wrong


def _clients(
    server: Httpd, clients: int, requests: int, path_of: Callable[[int], str], count: int
) -> str | None:
    wrong: list[str] = []

    def ask(number: int) -> None:
        for i in range(requests):
            path = path_of(number * requests + i)
            try:
                answer = fetch(server.port, path)
            except (OSError, http.client.HTTPException) as error:
                wrong.append(f"{path}: {error!r}")
                return
            if not _right(answer, path, count):
                wrong.append(f"{path}: a wrong answer of {len(answer.body)} bytes")
                return

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong[0] if wrong else None


def killed_process(server: Httpd, source: Origin) -> str | None:
    """Processes that share the cache are killed while they send objects of it: no answer is wrong,
    the cache is rebuilt, and the log says so.
    """
    del source
    large = "/page/20000000/held"  # more than sockets take
    fetch(server.port, large)
    for _ in range(3):
        with contextlib.ExitStack() as clients:
            for _ in range(6):  # who do not read what they get
                client = clients.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", server.port))
                client.sendall(f"GET {large} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                client.recv(100)
            for child in server.children():
                os.kill(child, signal.SIGKILL)
        # A client whose process dies sees the connection end; no client gets wrong bytes.
        for i in range(40):
            path = f"/page/30000/killed-{i}"
            with contextlib.suppress(OSError, http.client.HTTPException):
                answer = fetch(server.port, path)
                if answer.complete and not _right(answer, path, 30000):
                    return f"{path}: a wrong answer"
        fetch(server.port, large)
    end = time.monotonic() + 30
    while "the cache was rebuilt" not in server.log():
        if time.monotonic() > end:
            return "the log does not say that the cache was rebuilt"
        time.sleep(0.2)
    return _twice(server.port, "/page/9000/after-kills", 9000)


BAD_SETTINGS = {
    "CacheTandemSize 12X": "is not a size in bytes",
    "CacheTandemSize -1": "is not a size in bytes",
    "CacheTandemSize 99999999999999999999": "is not a size in bytes",
    "CacheTandemSize 1K": "too little for a cache",
    "CacheTandemSize 4096G": "than this machine has",
    "CacheTandemSize 64K\nCacheTandemMaxObjectSize 33K": "half of CacheTandemSize",
    "CacheTandemObjects 0": "is not a number of objects",
    "CacheTandemObjects many": "is not a number of objects",
    "CacheTandemPolicy FIFO": "is neither GDSF nor LRU",
    "CacheTandemShared maybe": "is none of On, Off and Auto",
    "CacheTandemMaxObjectSize 60M": "half of CacheTandemSize",
    "CacheTandemObjects 67108865": "is not a number of objects",
    "CacheTandemMinObjectSize 2M": "is above CacheTandemMaxObjectSize",
    "<Location />\nCacheTandemObjects 5\n</Location>": "",
}

GOOD_SETTINGS = (
    "CacheTandemSize 64K",
    "CacheTandemSize 2m\nCacheTandemMaxObjectSize 1M",
    "CacheTandemObjects 1",
    "CacheTandemPolicy lru",
    "CacheTandemShared off",
)


def bad_settings(module: Path, environment: dict[str, str]) -> str | None:
    """Wrong directives are refused by configtest, in a line that says why; right ones are not."""
    status, said = check_configuration(Site("tandem", module, environment=environment))
    if status != 0:
        return f"the defaults are refused: {said.strip()}"
    for line in GOOD_SETTINGS:
        site = Site("tandem", module, settings=[line], environment=environment)
        status, said = check_configuration(site)
        if status != 0:
            return f"{line!r} is refused: {said.strip()}"
    for line, why in BAD_SETTINGS.items():
        site = Site("tandem", module, settings=[line], environment=environment)
        status, said = check_configuration(site)
        if status == 0 or why not in said:
            return f"{line!r}: status {status}, {said.strip()!r}"
    return None


@dataclass(frozen=True)
class Check:
    run: Callable[[Httpd, Origin], str | None]
    settings: Sequence[str] = field(default_factory=list)  # of mod_cache_tandem
    processes: int = 1
    ours: bool = False  # of mod_cache_tandem only

    @property
    def name(self) -> str:
        return self.run.__name__


CHECKS = (
    Check(hits),
    Check(streams),
    Check(revalidated_body),
    Check(fills_memory),
    Check(varies),
    Check(origin_dies),
    Check(clients_hang_up),
    Check(large_headers),
    Check(memory_is_exhausted, ["CacheTandemSize 20M"], ours=True),
    Check(memory_is_exhausted, ["CacheTandemSize 20M", "CacheTandemShared On"], 2, ours=True),
    Check(graceful_restarts),
    Check(graceful_restarts, ["CacheTandemShared On"], 2, ours=True),
    Check(killed_process, ["CacheTandemShared On", "CacheTandemMaxObjectSize 25M"], 3, ours=True),
)


def run_checks(
    cache: str, module: Path | None, environment: dict[str, str], only: Sequence[str] = ()
) -> dict[str, str | None]:
    """Each check on a server of its own: null, or what is wrong."""
    results: dict[str, str | None] = {}
    for check in CHECKS:
        if (check.ours and module is None) or (only and check.name not in only):
            continue
        name = check.name + (", shared" if check.processes > 1 else "")
        say(f"check: {name}")
        with origin() as source:
            body = f'ProxyPass / "http://127.0.0.1:{source.port}/"'
            # Only what is ours knows its own directives.
            settings = check.settings if module is not None else ()
            site = Site(cache, module, body, settings, check.processes, 16, environment)
            try:
                with serving(site) as server:
                    results[name] = check.run(server, source)
            except (CommandError, OSError, http.client.HTTPException) as error:
                results[name] = f"{error}"
    if module is not None and (not only or "bad_settings" in only):
        say("check: bad_settings")
        results["bad_settings"] = bad_settings(module, environment)
    return results
