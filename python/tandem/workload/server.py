# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One memcached that listens, on the loopback address or on a unix socket."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CommandError, UserError

__all__ = ["OVER", "Server", "check_socket", "ending", "serving"]

OVER = ("tcp", "unix")
START_SECONDS = 30.0  # 0.1 s at rest; a build that checks itself, on a busy machine, some seconds
STOP_SECONDS = 30.0
SOCKET_BYTES = 107  # of a unix socket's path: sun_path without its terminator
_PORT = re.compile(r"^TCP INET: (\d+)$", re.MULTILINE)


def ending(status: int) -> str:
    """How a process ended, as `subprocess` tells: its status, or the signal's name."""
    if status >= 0:
        return f"status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def check_socket(folder: Path | None = None) -> None:
    """UserError where the path of a socket in `folder`, or in temporary folders as they are made
    here and for soaks, is too long for the kernel.
    """
    path = (folder or Path(tempfile.gettempdir()) / "tandem-memcached-12345678") / "socket"
    if len(os.fsencode(path)) > SOCKET_BYTES:
        raise UserError(
            f"{path}: is too long for a unix socket, by {len(os.fsencode(path)) - SOCKET_BYTES} "
            "bytes; set a shorter TMPDIR"
        )


@dataclass(frozen=True)
class Server:
    program: Path
    address: str  # HOST:PORT, or the path of the unix socket
    process: subprocess.Popen[bytes]
    complaints: Path  # its standard error

    def cpu_seconds(self) -> float:
        """What all its threads have used so far, to the nanosecond."""
        # The clock's number as pthread_getcpuclockid(3) makes it for another process.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def failure(self, why: str) -> CommandError:
        """Says why, and the last that the server said."""
        said = self.complaints.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return CommandError(f"{self.program}: {why}{': ' + said[-1] if said else ''}")


@contextlib.contextmanager
def serving(
    program: Path,
    over: str,
    threads: int,
    options: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
) -> Iterator[Server]:
    """Starts it, waits until it listens, and ends it by SIGINT, upon which it writes its profile
    if one was asked for. A process that the caller has killed stays so. Its socket is in `folder`,
    where that of one before may still be. CommandError where it does not start, or does not end
    with status 0; UserError where the socket's path would be too long.
    """
    with tempfile.TemporaryDirectory(prefix="tandem-memcached-") as name:
        folder = folder or Path(name)
        if over == "unix":
            check_socket(folder)
        port, path = folder / "port", folder / "socket"
        # Port -1: one that the kernel picks, which memcached writes into a file.
        where = ["-s", str(path)] if over == "unix" else ["-l", "127.0.0.1", "-p", "-1", "-U", "0"]
        command = [str(program), "-u", "root", *where, "-t", str(threads), *options]
        with (folder / "stderr").open("wb") as sink:
            process = subprocess.Popen(
                command,
                env=dict(environment) | {"MEMCACHED_PORT_FILENAME": str(port)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=sink,
            )
        server = Server(program, str(path), process, folder / "stderr")
        try:
            address = _wait_until_it_listens(server, port, path, over)
            yield Server(program, address, process, server.complaints)
            if process.returncode is None:
                _stop(server)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _wait_until_it_listens(server: Server, port: Path, path: Path, over: str) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise server.failure(f"did not start: {ending(server.process.returncode)}")
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            if over == "unix":
                with socket.socket(socket.AF_UNIX) as attempt:
                    attempt.connect(str(path))
                return str(path)
            if found := _PORT.search(port.read_text(encoding="utf-8")):
                return f"127.0.0.1:{found[1]}"
        time.sleep(0.01)
    raise server.failure(f"did not listen within {START_SECONDS:.0f} s")


def _stop(server: Server) -> None:
    os.kill(server.process.pid, signal.SIGINT)
    try:
        status = server.process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        raise server.failure(f"did not end within {STOP_SECONDS:.0f} s of SIGINT") from None
    if status != 0:
        raise server.failure(f"ended with {ending(status)}")
