# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One sample: runs a command, measures it, reads its metrics. Self-contained, so that it can run on
another machine; one at a time in each process, whatever the number of its threads.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CommandError, FormatError
from tandem.experiment.load import Watch, disturbance, probe
from tandem.experiment.parts import Metric
from tandem.formats.documents import parse_json, resolve_pointer

__all__ = ["Finished", "Measured", "Task", "kill_running", "measure", "run_command"]


@dataclass(frozen=True, slots=True)
class Task:
    """A sample to be taken; plain data."""

    key: str  # the point: definition.key_of
    label: str  # the point for people
    round: int  # from 0; warm-ups count down from -1
    position: int  # within the round, from 0
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    timeout_s: float
    metrics: tuple[Metric, ...]
    origins: tuple[str, ...]  # by metric: `from`, expanded
    output: str  # the path that {output} stands for; removed before and after
    outcomes: bool = False  # as Run.outcomes


@dataclass(frozen=True, slots=True)
class Measured:
    """A sample that was taken."""

    key: str
    round: int
    position: int
    worker: str  # host name of the machine that ran it
    wall_s: float  # from before the start of the command to after its end
    cpu_s: float  # user and system time of the command and the children it waited for
    metrics: Mapping[str, int | float]
    others_cpu_s: float | None = None  # processor time of everything else on that machine meanwhile
    stolen_s: float | None = None  # that its hypervisor gave to others
    disturbed: str = ""  # why its times are no evidence; empty: they are
    outcome: str = ""  # why there are no metrics: "did not end: ...", "refused: ..."
    probe_one_s: float | None = None  # as Sample's
    probe_all_s: float | None = None


class _LimitError(CommandError):
    """A command ran into its time limit."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended by itself with status 0."""

    stdout: str
    stderr: str
    wall_s: float
    cpu_s: float


_one_at_a_time = threading.Lock()
_running: set[int] = set()  # process groups of commands under way
_running_lock = threading.Lock()


def kill_running() -> None:
    """Kills all commands that run now; who waits for one gets a CommandError."""
    with _running_lock:
        for group in _running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def measure(task: Task, alone: bool = True) -> Measured:
    """Runs the task and reads all its metrics; CommandError names the point and what went wrong.

    `alone`: not before another one of this process has ended.
    """
    place = task.label if task.round >= 0 else f"{task.label} (warm-up)"
    output = Path(task.output)
    with _one_at_a_time if alone else contextlib.nullcontext():
        output.unlink(missing_ok=True)
        probes = [probe()] if any(x.is_processor_time for x in task.metrics) else []
        try:
            watch = Watch()
            try:
                done = run_command(
                    task.command, dict(task.environment), task.timeout_s, place=place
                )
                outcome = _outcome(done.stdout) if task.outcomes else ""
            except _LimitError:
                if not task.outcomes:
                    raise
                outcome = f"did not end: within {task.timeout_s:g} s"
                done = Finished("", "", task.timeout_s, 0)
            load = watch.load(done.cpu_s)
            probes += [probe() for _ in probes]
            values: dict[str, int | float] = {}
            cache: dict[str, str] = {"stdout": done.stdout, "stderr": done.stderr}
            for metric, origin in zip(task.metrics, task.origins, strict=True):
                value = None if outcome else _read(metric, origin, done, cache, place)
                if value is not None:
                    values[metric.name] = value
        finally:
            output.unlink(missing_ok=True)
    return Measured(
        key=task.key,
        round=task.round,
        position=task.position,
        worker=os.uname().nodename,
        wall_s=done.wall_s,
        cpu_s=done.cpu_s,
        metrics=values,
        others_cpu_s=load.others_cpu_s if load else None,
        stolen_s=load.stolen_s if load else None,
        disturbed=disturbance(load, done.wall_s),
        outcome=outcome,
        probe_one_s=min((x.one_s for x in probes), default=None),
        probe_all_s=max((x.all_s for x in probes), default=None),
    )


def _outcome(stdout: str) -> str:
    """What the command says instead of figures; empty where it has some."""
    try:
        document = json.loads(stdout)
    except ValueError:
        return ""
    said = document.get("outcome") if isinstance(document, dict) else None
    return said if isinstance(said, str) else ""


def run_command(
    command: Sequence[str], environment: Mapping[str, str], timeout_s: float, *, place: str
) -> Finished:
    """Runs a command in its own session, without standard input, and waits for it.

    At the time limit, or when this call is interrupted, the command and all its children in the
    session are killed. CommandError if it cannot start, fails, or runs into the limit.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        process: subprocess.Popen[bytes] | None = None
        try:
            # An interruption within Popen would leave a process that nobody knows.
            with _signals_put_off():
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={**os.environ, **environment},
                    start_new_session=True,
                )
            with _noted(process.pid):
                status, cpu_s, expired = _wait(process, timeout_s)
        except BaseException as error:
            if process is not None and process.returncode is None:
                _kill(process)
                process.wait()
            if process is None and isinstance(error, OSError):
                reason = (error.strerror or str(error)).lower()
                raise CommandError(f"{place}: {command[0]}: cannot be started: {reason}") from error
            raise
        wall_s = time.perf_counter() - begin
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", errors="replace"))
    if expired:
        raise _LimitError(f"{place}: {command[0]}: killed after its time limit of {timeout_s:g} s")
    if status != 0:
        how = f"exit status {status}"
        if status < 0:
            how = f"killed by {signal.Signals(-status).name}"
        lines = [line.strip() for line in (texts[1] or texts[0]).splitlines() if line.strip()]
        last = f": {lines[-1]}" if lines else ""
        raise CommandError(f"{place}: {command[0]}: {how}{last}")
    return Finished(texts[0], texts[1], wall_s, cpu_s)


@contextlib.contextmanager
def _signals_put_off() -> Iterator[None]:
    """Handles what interrupts (in the main thread, as no other is interrupted) at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {x: signal.getsignal(x) for x in (signal.SIGINT, signal.SIGTERM)}
    known = [x for x, handler in before.items() if callable(handler)]
    for one in known:
        signal.signal(one, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for one in known:
            signal.signal(one, before[one])
        for number in came:
            signal.raise_signal(number)


@contextlib.contextmanager
def _noted(group: int) -> Iterator[None]:
    with _running_lock:
        _running.add(group)
    try:
        yield
    finally:
        with _running_lock:
            _running.discard(group)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> tuple[int, float, bool]:
    """Exit status (negative: the signal), CPU seconds, and whether the time limit struck."""
    guard = threading.Lock()
    ended = expired = False

    def strike() -> None:
        nonlocal expired
        with guard:
            if not ended:
                expired = True
                _kill(process)

    timer = threading.Timer(min(timeout_s, threading.TIMEOUT_MAX), strike)
    timer.daemon = True
    timer.start()
    try:
        # Without reaping: until wait4 below, the number cannot belong to another process.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with guard:
            ended = True
    finally:
        timer.cancel()
        _kill(process)  # children that the command left behind would disturb the next sample
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, expired


def _read(
    metric: Metric, origin: str, done: Finished, cache: dict[str, str], place: str
) -> int | float | None:
    if metric.source == "wall":
        return done.wall_s * metric.scale
    if metric.source == "cpu":
        return done.cpu_s * metric.scale
    if origin not in cache:
        try:
            cache[origin] = Path(origin).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CommandError(f"{place}: metric '{metric.name}': {origin}: {reason}") from error
    text, where = cache[origin], f"{place}: metric '{metric.name}': {origin}"
    value = (
        _from_json(metric, text, where) if metric.source == "json" else _match(metric, text, where)
    )
    if value is None:
        return None
    if not math.isfinite(value):
        raise CommandError(f"{where}: {value} is not a finite number")
    return value if metric.scale == 1 else value * metric.scale


def _from_json(metric: Metric, text: str, where: str) -> int | float | None:
    try:
        value = resolve_pointer(parse_json(text, where), metric.pointer)
    except FormatError as error:
        raise CommandError(str(error)) from error
    except LookupError as error:
        if metric.optional:
            return None
        raise CommandError(f"{where}: no value at {metric.pointer}") from error
    if value is None and metric.optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CommandError(f"{where}: {metric.pointer} is not a number: {json.dumps(value)[:60]}")
    return value


def _match(metric: Metric, text: str, where: str) -> int | float:
    found = re.findall(metric.pattern, text, re.MULTILINE)
    if not found:
        raise CommandError(f"{where}: nothing matches /{metric.pattern}/")
    try:
        return int(found[-1])
    except ValueError:
        pass
    try:
        return float(found[-1])
    except ValueError as error:
        raise CommandError(f"{where}: '{found[-1]}' is not a number") from error
