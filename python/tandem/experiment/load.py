# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What else the machine did while a sample was taken: processor time of others, and stolen time.

From /proc/stat, of the processors that this process may run on. A sample whose time others took is
*disturbed*; a verdict on a time needs samples that are not (docs/formats/experiment.md).

Processor time is not lengthened by waiting, but by a slower processor: another guest on the same
core, a hardware thread beside it, a lower clock. No counter of a virtual machine says so. A
*probe*, the same piece of work around each sample, does.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Load", "Speed", "Watch", "disturbance", "parse_stat", "probe"]

_STAT = Path("/proc/stat")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

# Others may have this share of one processor: what a system at rest takes for itself is below 2 %.
_MOST_SHARE = 0.05
# The counters step by a tick (10 ms) for each processor; below this length a step decides.
_SHORTEST_S = 0.25
# What a probe computes on: some milliseconds, and no cache holds it twice as well as once.
_PROBED = bytes(4 << 20)


@dataclass(frozen=True, slots=True)
class Load:
    """While a sample was taken, summed over the processors."""

    others_cpu_s: float  # processor time of all but the sample's own command
    stolen_s: float  # time that the hypervisor gave to others


@dataclass(frozen=True, slots=True)
class Speed:
    """Processor time of the same piece of work."""

    one_s: float  # by one thread
    all_s: float  # by the slowest of a thread for each processor, all at once


def _thread_time(_: int) -> float:
    begin = time.thread_time()
    hashlib.sha256(_PROBED).digest()  # without Python's global lock
    return time.thread_time() - begin


def probe() -> Speed:
    """How fast this process's processors are now. Signals wait meanwhile: some milliseconds."""
    count = len(os.sched_getaffinity(0))
    # What a handler raises while a pool begins or ends its threads may be lost in one of them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        with ThreadPoolExecutor(count) as threads:
            return Speed(_thread_time(0), max(threads.map(_thread_time, range(count))))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def parse_stat(text: str, processors: frozenset[int]) -> tuple[float, float]:
    """Busy and stolen seconds since the start, of these processors; ValueError for another text."""
    busy = stolen = 0
    found = 0
    for line in text.splitlines():
        match = re.fullmatch(r"cpu(\d+) (\d+(?: \d+){7,})", line)
        if match is None or int(match[1]) not in processors:
            continue
        user, nice, system, _idle, _wait, irq, soft, steal = map(int, match[2].split()[:8])
        busy += user + nice + system + irq + soft
        stolen += steal
        found += 1
    if found != len(processors):
        raise ValueError(f"{found} of {len(processors)} processors")
    return busy / _TICKS_PER_S, stolen / _TICKS_PER_S


class Watch:
    """Begins when it is made; `load` says what happened since. Unknown where there is no /proc."""

    def __init__(self, read: Callable[[], str] = _STAT.read_text) -> None:
        self._read = read
        self._processors = frozenset(os.sched_getaffinity(0))
        self._begin = self._now()

    def _now(self) -> tuple[float, float] | None:
        try:
            return parse_stat(self._read(), self._processors)
        except (OSError, ValueError):
            return None

    def load(self, own_cpu_s: float) -> Load | None:
        """Since the beginning; `own_cpu_s` is what the sample itself took of the processors."""
        end = self._now()
        if self._begin is None or end is None:
            return None
        busy, stolen = (b - a for a, b in zip(self._begin, end, strict=True))
        return Load(round(max(busy - own_cpu_s, 0.0), 3), round(max(stolen, 0.0), 3))


def disturbance(load: Load | None, wall_s: float) -> str:
    """Why a time of this sample is no evidence; empty where it is."""
    if load is None:
        return "the machine does not say what else ran"
    if wall_s < _SHORTEST_S:
        return f"shorter than {_SHORTEST_S:g} s: what else ran cannot be told"
    reasons = []
    for seconds, what in ((load.others_cpu_s, "others ran"), (load.stolen_s, "time was stolen")):
        if seconds > _MOST_SHARE * wall_s:
            reasons.append(f"{what} for {seconds:.2f} s of {wall_s:.2f} s")
    return ", ".join(reasons)
