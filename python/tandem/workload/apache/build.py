# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the replay and the module, by workloads/apache/Makefile.

FOLDER/VARIANT/replay                the store in process
FOLDER/VARIANT/legacy, revocable     httpd 2.2's algorithm in its place, and with its patch
FOLDER/VARIANT/steps                 four ways to register a reference
FOLDER/VARIANT/mod_cache_tandem.so   the module
FOLDER/VARIANT/NAME.json             tandem-cc's report of it
FOLDER/machine/VARIANT/replay        the store in process, for the simulated machine
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tandem.errors import UserError
from tandem.paths import ROOT
from tandem.workload.steps import must_run, say

__all__ = [
    "MODULE",
    "OF_MACHINE",
    "SHIPPED",
    "VARIANTS",
    "build",
    "report_of",
    "server_environment",
]

SOURCES = ROOT / "workloads" / "apache"
MODULE = "mod_cache_tandem.so"
# Variants of programs for the simulated machine: it has no sanitizers.
OF_MACHINE = ("sequential", "mutex", "global-lock", "locks", "stm", "hybrid", "htm")
# How sections are enforced.
VARIANTS = {
    "sequential": "not at all: for one thread",
    "mutex": "one pthread mutex",
    "global-lock": "tandem-cc: one lock of the process",
    "locks": "tandem-cc: inferred locks",
    "stm": "tandem-cc: transactions in software",
    "hybrid": "tandem-cc: locks, or transactions where these are contended",
    "htm": "tandem-cc: transactions, the hardware path asked for",
    "mutex-tsan": "one mutex, ThreadSanitizer",
    "mutex-asan": "one mutex, AddressSanitizer and UndefinedBehaviorSanitizer",
}
# What stands beside the module in `suite` and `load`.
SHIPPED = {
    "none": "no cache",
    "disk": "mod_cache_disk",
    "socache": "mod_cache_socache with mod_socache_shmcb",
}


def _httpd_is_there() -> None:
    if shutil.which("apxs") is None or shutil.which("apr-1-config") is None:
        raise UserError("httpd's headers are missing; run: scripts/setup apache")


def build(
    folder: Path, prefix: Path, target: str, variants: Sequence[str], jobs: int
) -> dict[str, Path]:
    """`target`: replay, legacy, revocable, steps, module or machine. Each variant's file. UserError
    where something that it needs is missing, CommandError where a compiler fails.
    """
    if target == "machine" and not (prefix / "lib" / "tandem" / "riscv64" / "libtandem.a").exists():
        raise UserError(
            "the runtime for the simulated machine is missing; run: scripts/setup cross && "
            "scripts/build release"
        )
    if target == "module":
        _httpd_is_there()
    wanted = [x for x in variants if x in VARIANTS]
    folder.mkdir(parents=True, exist_ok=True)
    if wanted:
        say(f"building {target}: {', '.join(wanted)}")
        command = ["make", "--silent", "-f", str(SOURCES / "Makefile"), f"--jobs={jobs}"]
        command += [f"WORK={folder}", f"VARIANTS={' '.join(wanted)}", target]
        command += [f"TANDEM_CC={prefix / 'bin' / 'tandem-cc'}"]
        command += [f"TANDEM_INCLUDE={_include(prefix)}"]
        log = folder / f"{target}.log"
        must_run(command, folder=folder, environment=dict(os.environ), log=log)
    if target == "machine":
        return {name: folder / "machine" / name / "replay" for name in wanted}
    file = MODULE if target == "module" else target
    return {name: folder / name / file for name in wanted}


def server_environment(variant: str) -> dict[str, str]:
    """What httpd itself, which is not sanitized, needs to load that variant's module. UserError
    where clang's runtime is not there.
    """
    if not variant.endswith("-asan"):
        return {}
    name = "libclang_rt.asan-x86_64.so"
    command = ["clang-19", f"-print-file-name={name}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not Path(found := done.stdout.strip()).is_absolute():
        raise UserError(f"{name} is missing; run: apt-get install libclang-rt-19-dev")
    # httpd keeps its pools until the kernel frees them: what leaks is asked in the replay.
    options = "detect_leaks=0:abort_on_error=1:disable_coredump=1"
    return {
        "LD_PRELOAD": found,
        "ASAN_OPTIONS": options,
        "UBSAN_OPTIONS": "print_stacktrace=1:abort_on_error=1",
    }


def _include(prefix: Path) -> Path:
    """Where tandem/tandem.h is: in the checkout, else in the installation."""
    return ROOT / "include" if (ROOT / "include").is_dir() else prefix / "include"


def report_of(built: Path) -> Path:
    """tandem-cc's report of what `build` gave."""
    return built.with_name(f"{built.name}.json")
