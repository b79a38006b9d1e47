# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a measurement depends on and cannot be seen from its numbers: machine, commit, compilers."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Commit", "Host", "commit_of", "compilers", "has_rtm", "parse_cpuinfo", "this_host"]


@dataclass(frozen=True, slots=True)
class Host:
    """The machine of the samples."""

    name: str
    cpu: str  # the model's name
    cores: int  # logical ones that this process may run on
    memory_mib: int
    kernel: str
    rtm: bool  # hardware transactions that can commit
    load_1m: float  # load average of the last minute, before the first sample


@dataclass(frozen=True, slots=True)
class Commit:
    """The state of the checkout; None where there is none."""

    git: str | None
    dirty: bool | None  # uncommitted changes or untracked files


def parse_cpuinfo(text: str) -> tuple[str, bool]:
    """Model name and usable RTM of the first processor in the text of /proc/cpuinfo.

    A processor with rtm_always_abort offers the instructions but never commits.
    """
    model = re.search(r"^(?:model name|Model|uarch)\s*:\s*(.+)$", text, re.MULTILINE)
    flags = re.search(r"^flags\s*:\s*(.*)$", text, re.MULTILINE)
    words = set(flags[1].split()) if flags else set()
    return (
        model[1].strip() if model else platform.machine() or "unknown",
        "rtm" in words and "rtm_always_abort" not in words,
    )


def has_rtm() -> bool:
    """Whether the processor that this process runs on has RTM, and commits by it."""
    return parse_cpuinfo(_text(Path("/proc/cpuinfo")))[1]


def this_host() -> Host:
    """The machine that this process runs on (Linux)."""
    model, rtm = parse_cpuinfo(_text(Path("/proc/cpuinfo")))
    memory = re.search(r"^MemTotal:\s*(\d+) kB", _text(Path("/proc/meminfo")), re.MULTILINE)
    return Host(
        name=platform.node(),
        cpu=model,
        cores=len(os.sched_getaffinity(0)),
        memory_mib=int(memory[1]) // 1024 if memory else 0,
        kernel=f"{platform.system()} {platform.release()}",
        rtm=rtm,
        load_1m=round(os.getloadavg()[0], 2),
    )


def commit_of(directory: Path) -> Commit:
    """The git commit of a checkout; Commit(None, None) outside one or without git."""
    if not (directory / ".git").exists():
        return Commit(None, None)
    git = ["git", "-C", str(directory)]
    head = _output([*git, "rev-parse", "HEAD"])
    if head is None or not re.fullmatch(r"[0-9a-f]{40,64}", head.strip()):
        return Commit(None, None)
    status = _output([*git, "status", "--porcelain"])
    return Commit(head.strip(), None if status is None else status.strip() != "")


def compilers(build: Path) -> dict[str, str]:
    """First line of --version of the compilers at hand: this build's own and the system's."""
    own = [(name, str(build / "bin" / name)) for name in ("tandem-cc",)]
    others = [(name, name) for name in ("clang-19", "gcc", "ld.lld-19")]
    found: dict[str, str] = {}
    for name, program in own + others:
        path = shutil.which(program)
        version = _output([path, "--version"]) if path else None
        if version and version.strip():
            found[name] = version.strip().splitlines()[0]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _output(command: list[str]) -> str | None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
