# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that gcc compiles with -fgnu-tm, run on the stock libitm and on ours, unchanged."""

from __future__ import annotations

import os
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tandem.experiment.host import has_rtm

ROOT = Path(__file__).resolve().parents[2]
MICRO = ROOT / "workloads/micro"
BENCHMARKS = (
    "counter",
    "disjoint",
    "array",
    "hash-20",
    "tree-0",
    "tree-10",
    "tree-50",
    "list-20",
)
LIBRARY = Path(os.environ["TANDEM_BUILD"]) / "lib"
ALGORITHMS = ("auto", "serial", "eager", "lazy", "norec", "two-phase", "htm")
EMULATOR = LIBRARY.parent / "tests/librtm_emulator.so"
POLICIES = (
    "polite",
    "karma",
    "eruption",
    "kindergarten",
    "timestamp",
    "polka",
    "size-matters",
    "stall",
)
BACKOFFS = ("none", "linear", "exponential", "random", "square")
SECONDS = 120  # a program that takes longer hangs


@dataclass(frozen=True)
class Outcome:
    """Exit status (negative: a signal) and both outputs together."""

    status: int
    output: str


def hardware(seed: int) -> dict[str, str]:
    """What a program needs for hardware transactions where the processor has none: the emulator
    (rtm_emulator/). Skips where RTM is there but switched off: then it cannot be emulated."""
    if has_rtm():
        return {}
    if "rtm_always_abort" in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip("this processor has RTM and aborts all of it: neither to be used nor emulated")
    return {
        "LD_PRELOAD": str(EMULATOR),
        "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
        "RTM_EMULATOR_SEED": str(seed),
    }


class GnuTm:
    """Compiles into a folder of its own, and runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def compile(self, name: str, sources: Sequence[Path], options: Sequence[str] = ()) -> Path:
        program = self.folder / name
        if program.exists():
            return program
        compiler = "gcc" if sources[0].suffix == ".c" else "g++"
        command = [compiler, "-O2", "-w", "-fgnu-tm", "-pthread", *options]
        command += [*map(str, sources), "-o", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return program

    def run(
        self,
        program: Path,
        *arguments: str,
        algorithm: str = "stock",
        environment: Mapping[str, str] | None = None,
        emulates: bool = True,
    ) -> Outcome:
        """Under one of ALGORITHMS on our library; `stock` is GCC's, as it is by default. `htm` runs
        in the emulator where the processor has no RTM; without it if not `emulates`."""
        variables = {"TANDEM_PROFILE_PERIOD": "1", **os.environ}  # numbers are compared
        if algorithm != "stock":
            variables |= {"TANDEM_ALGORITHM": algorithm, "LD_LIBRARY_PATH": str(LIBRARY)}
        if algorithm == "htm" and emulates:
            variables |= hardware(zlib.crc32(program.name.encode()))
        variables |= dict(environment or {})
        done = subprocess.run(
            [str(program), *arguments],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
        return Outcome(done.returncode, done.stdout)


@pytest.fixture(scope="session")
def gnu_tm(tmp_path_factory: pytest.TempPathFactory) -> GnuTm:
    # A library that a sanitizer instruments only runs in programs that it instruments too. That it
    # tells ThreadSanitizer of its transactions (__tsan_acquire) is another thing.
    symbols = subprocess.run(
        ["nm", "-D", str(LIBRARY / "libitm.so.1")], capture_output=True, text=True, check=True
    )
    for sanitizer in ("__asan_init", "__tsan_init", "__ubsan_handle"):
        if sanitizer in symbols.stdout:
            pytest.fail(
                f"libitm.so.1 is built with a sanitizer ({sanitizer}); gcc's programs are not"
            )
    return GnuTm(tmp_path_factory.mktemp("gnu-tm"))
