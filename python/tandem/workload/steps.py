# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long steps: child processes with a log, progress on standard error, one at a time in a folder."""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tandem.errors import CommandError, UserError

__all__ = ["Meter", "Quiet", "must_run", "one_at_a_time", "run", "say", "side_by_side"]

LOG_TAIL_LINES = 20  # of a failed step's log that the person sees
METER_SECONDS = 10.0  # between two lines of progress where standard error is no terminal


_quiet = False  # of the process


class Quiet(argparse.Action):
    """The option --quiet: say() says nothing from here on."""

    def __call__(self, *_: object) -> None:
        global _quiet
        _quiet = True


_running: set[subprocess.Popen[str]] = set()
_ending = False  # whether no more commands may begin
_running_lock = threading.Lock()


def say(text: str) -> None:
    """What is being done now, on standard error, so that standard output stays data."""
    if not _quiet:
        print(f"==> {text}", file=sys.stderr, flush=True)


class Meter:
    """Progress of one step: redrawn in place on a terminal, else a line now and then."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = total
        self._done = 0
        self._begin = time.monotonic()
        self._shown = self._begin
        self._terminal = sys.stderr.isatty()
        say(label)

    def advance(self) -> None:
        self._done += 1
        now = time.monotonic()
        text = f"    {self._done} of {self._total}, {now - self._begin:.0f} s"
        if _quiet:
            return
        if self._terminal:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
        elif now - self._shown >= METER_SECONDS:
            self._shown = now
            print(text, file=sys.stderr, flush=True)

    def end(self) -> float:
        """Removes what was drawn. Result: seconds since the beginning."""
        if self._terminal and self._done:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        return time.monotonic() - self._begin


def run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    line: Callable[[str], None] | None = None,
    timeout_s: float = 1800,
) -> int:
    """Runs a command in a process group of its own; its exit status. Standard output goes, line
    by line, to `line` and to the log, standard error to the log. The whole group ends with it:
    when this process is interrupted, and when the time is over (CommandError).
    """
    with log.open("w", encoding="utf-8", errors="replace") as sink:
        with _running_lock:
            if _ending:
                raise CommandError(f"{command[0]}: was not run: another command failed")
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=sink,
                start_new_session=True,
                encoding="utf-8",
                errors="replace",
            )
            _running.add(process)
        timed_out = False

        def expire() -> None:
            nonlocal timed_out
            timed_out = True
            _end_group(process)

        timer = threading.Timer(timeout_s, expire)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None
            for text in process.stdout:
                sink.write(text)
                sink.flush()
                if line is not None:
                    line(text.rstrip("\n"))
            status = process.wait()
        finally:
            timer.cancel()
            with _running_lock:
                _running.discard(process)
            _end_group(process)
    if timed_out:
        raise CommandError(f"{command[0]}: ended after {timeout_s:.0f} s; its output is in {log}")
    return status


@contextlib.contextmanager
def side_by_side(threads: int) -> Iterator[concurrent.futures.Executor]:
    """Threads for jobs that run commands. Where the caller fails or is interrupted, all commands of
    the process end, and none begins any more.
    """
    global _ending
    pool = concurrent.futures.ThreadPoolExecutor(threads)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        with _running_lock:
            _ending = True
            for process in _running:
                _end_group(process)
        raise
    finally:
        pool.shutdown()
        _ending = False


def _end_group(process: subprocess.Popen[str]) -> None:
    # What the command left behind, if anything: its group is named after it.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM if process.poll() is None else signal.SIGKILL)


def must_run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    line: Callable[[str], None] | None = None,
) -> None:
    """`run`; CommandError with the end of the log if the command fails."""
    status = run(command, folder=folder, environment=environment, log=log, line=line)
    if status == 0:
        return
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_TAIL_LINES:]
    print("\n".join(tail), file=sys.stderr)
    raise CommandError(f"{command[0]} failed with status {status}; all of its output is in {log}")


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Waits until no other process works in `folder`; makes it. The lock ends with the process."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w", encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UserError(f"{folder}: cannot be written: {reason}; name another --folder") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that works in {folder}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
