# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One httpd on the loopback address, with one of the caches before what it serves."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tandem.errors import CommandError, UserError
from tandem.workload.server import ending

__all__ = ["Httpd", "Site", "check_configuration", "find_httpd", "serving"]

START_SECONDS = 60.0
STOP_SECONDS = 60.0
# Connections end by themselves first.
GRACE_SECONDS = 20
# Loaded for every site; the order does not matter.
MODULES = (
    *("mpm_event", "authz_core", "headers", "expires", "mime", "alias", "env", "status"),
    *("proxy", "proxy_http", "cgid", "cache"),
)
# How a sanitizer's report begins.
_SANITIZER = re.compile(r"ERROR: \w+Sanitizer|: runtime error: ")


@dataclass(frozen=True)
class Site:
    """What a server serves, and which cache is before it."""

    cache: str  # of SHIPPED, or "tandem"
    module: Path | None = None  # where the cache is tandem
    body: str = ""  # directives of what is served
    settings: Sequence[str] = ()  # of the cache
    processes: int = 1
    threads: int = 16
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Httpd:
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def status(self) -> dict[str, int]:
        """mod_cache_tandem's counters; of one process, where each has a store of its own."""
        url = f"http://{self.address}/cache-tandem-status?auto"
        with urllib.request.urlopen(url, timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return {
            name.removeprefix("CacheTandem"): int(value)
            for name, _, value in (x.partition(": ") for x in lines)
        }

    def log(self) -> str:
        return (self.folder / "error.log").read_text(encoding="utf-8", errors="replace")

    def all_children(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(x) for x in path.read_text(encoding="ascii").split()]

    def children(self) -> list[int]:
        """Processes that serve, without the CGI daemon."""
        return [x for x in self.all_children() if _threads(x) > 2]

    def cpu_seconds(self) -> float:
        """What the processes that serve have used so far."""
        ticks = 0
        for pid in self.children():
            with contextlib.suppress(OSError):
                # Behind the name in brackets: fields 3 and on; user and system time are 14 and 15.
                text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
                fields = text.rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def graceful(self) -> None:
        """Restarts it while it serves."""
        os.kill(self.process.pid, signal.SIGUSR1)


def _threads(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    except OSError:
        return 0


def find_httpd() -> str:
    """UserError where it is not installed."""
    found = shutil.which("apache2") or shutil.which("apache2", path="/usr/sbin")
    if found is None:
        raise UserError("apache2 is not installed; run: scripts/setup apache")
    return found


def _modules_folder() -> Path:
    folder = Path("/usr/lib/apache2/modules")
    if not folder.is_dir():
        raise UserError("httpd's modules are missing; run: scripts/setup apache")
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cache_lines(site: Site, folder: Path) -> list[str]:
    if site.cache == "none":
        return []
    lines = {
        "disk": [
            f'CacheRoot "{folder / "disk"}"',
            "CacheDirLevels 2",
            "CacheDirLength 1",
        ],
        "socache": [f'CacheSocache "shmcb:{folder / "socache"}(60000000)"'],
        "tandem": [],
    }[site.cache]
    return [f"CacheEnable {site.cache} /", "CacheHeader on", *lines, *site.settings]


def _loads(site: Site) -> list[str]:
    names = list(MODULES)
    names += {"disk": ["cache_disk"], "socache": ["cache_socache", "socache_shmcb"]}.get(
        site.cache, []
    )
    folder = _modules_folder()
    lines = [f'LoadModule {x}_module "{folder / f"mod_{x}.so"}"' for x in names]
    if site.module is not None:
        lines.append(f'LoadModule cache_tandem_module "{site.module}"')
    return lines


def _configuration(site: Site, folder: Path, port: int) -> str:
    who = ["User nobody", "Group nogroup"] if os.geteuid() == 0 else []
    lines = [
        *_loads(site),
        *who,
        f'ServerRoot "{folder}"',
        f'DefaultRuntimeDir "{folder}"',
        f'PidFile "{folder / "pid"}"',
        f'ScriptSock "{folder / "cgisock"}"',
        f'ErrorLog "{folder / "error.log"}"',
        f'CoreDumpDirectory "{folder / "cores"}"',
        f'DocumentRoot "{folder / "htdocs"}"',
        'TypesConfig "/etc/mime.types"',
        "ServerName localhost",
        f"Listen 127.0.0.1:{port}",
        "LogLevel info",
        "EnableSendfile on",
        "KeepAlive on",
        "MaxKeepAliveRequests 0",
        "Timeout 60",
        f"GracefulShutdownTimeout {GRACE_SECONDS}",
        f"ServerLimit {site.processes}",
        f"StartServers {site.processes}",
        f"ThreadsPerChild {site.threads}",
        f"ThreadLimit {site.threads}",
        f"MaxRequestWorkers {site.processes * site.threads}",
        "MinSpareThreads 1",
        f"MaxSpareThreads {site.processes * site.threads}",
        "<Location /cache-tandem-status>",
        "  SetHandler cache-tandem-status",
        "  ProxyPass !",
        "  CacheDisable on",
        "</Location>",
        *_cache_lines(site, folder),
        site.body,
    ]
    return "\n".join(lines) + "\n"


def _prepare(site: Site, folder: Path) -> tuple[list[str], int]:
    """Writes its configuration; the command that runs it, and its port."""
    folder.chmod(0o755)
    (folder / "htdocs").mkdir(exist_ok=True)
    for written in (folder / "disk", folder / "cores"):
        written.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(written, "nobody", "nogroup")
    port = _free_port()
    (folder / "httpd.conf").write_text(_configuration(site, folder, port), encoding="utf-8")
    return [find_httpd(), "-f", str(folder / "httpd.conf")], port


def check_configuration(site: Site) -> tuple[int, str]:
    """What `apachectl configtest` says of it: its status and message."""
    with tempfile.TemporaryDirectory(prefix="tandem-apache-") as name:
        command, _ = _prepare(site, Path(name))
        done = subprocess.run(
            [*command, "-t"],
            env=os.environ | site.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        log = Path(name) / "error.log"
        said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        return done.returncode, done.stderr + said


@contextlib.contextmanager
def serving(site: Site) -> Iterator[Httpd]:
    """Starts it, waits until it listens, ends it. CommandError where it does not start, or a
    process of it crashed meanwhile: its folder stays then, with log and cores.
    """
    folder = Path(tempfile.mkdtemp(prefix="tandem-apache-"))
    crash = None
    try:
        command, port = _prepare(site, folder)
        process = subprocess.Popen(
            [*command, "-DFOREGROUND"],
            env=os.environ | site.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "stderr").open("wb"),
            preexec_fn=_keep_cores,
        )
        server = Httpd(folder, port, process)
        try:
            _wait_until_it_listens(server)
            yield server
        finally:
            _stop(server)
            crash = _crash(server)
        if crash is not None:
            raise CommandError(f"httpd: {crash}; log and cores are in {folder}")
    finally:
        if crash is None:
            shutil.rmtree(folder, ignore_errors=True)


def _keep_cores() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


def _crash(server: Httpd) -> str | None:
    """What its log says of processes that crashed."""
    lines = server.log().splitlines()
    if found := [x for x in lines if _SANITIZER.search(x)]:
        return found[0].strip()
    if crashed := [x for x in lines if "exit signal" in x and "Killed" not in x]:
        return f"a process of it crashed: {crashed[0]}"
    return None


def _wait_until_it_listens(server: Httpd) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.process.poll() is not None:
            said = (server.folder / "stderr").read_text(encoding="utf-8", errors="replace")
            log = server.folder / "error.log"
            said += server.log() if log.exists() else ""
            last = said.strip().splitlines()[-1:] or [ending(server.process.returncode)]
            raise CommandError(f"httpd did not start: {last[0]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 1):
            return
        time.sleep(0.02)
    raise CommandError(f"httpd did not listen within {START_SECONDS:.0f} s")


def _stop(server: Httpd) -> None:
    """As `apachectl graceful-stop`. At SIGTERM httpd closes the connections of threads that may be
    about to free them, and now and then crashes, with whatever cache. A signal that comes while it
    restarts may be lost.
    """
    for request in (signal.SIGWINCH, signal.SIGTERM):
        if server.process.poll() is not None:
            return
        server.process.send_signal(request)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(timeout=STOP_SECONDS)
    if server.process.poll() is None:
        for pid in (server.process.pid, *server.all_children()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        server.process.wait()
        raise CommandError(f"httpd did not end within {2 * STOP_SECONDS:.0f} s")
