#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compute loops on one hart or on qemu-riscv64, as JSON: processor time and cycles an instruction.

    loops.py MACHINE SOURCE BUILD WORK OUTPUT      MACHINE: tandem, qemu

The instructions are counted by our harts, which run the same program; the clock is measured by a
loop of dependent additions just before.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path


def timed(*command: str | Path) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Processor seconds of a command, and what it wrote."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def main() -> None:
    machine, source, build, work, output = sys.argv[1:]
    bare = Path(build) / "tests/machine_bare"
    if not bare.exists():
        sys.exit(f"loops.py: {bare}: not found; run: scripts/build --tests release")
    here, folder = Path(source) / "bench/harts", Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    program, clock = folder / "loops", folder / "clock"
    freestanding = ["-nostdlib", "-static", "-ffreestanding", "-fno-builtin", "-Wl,--no-relax"]
    cross: list[str | Path] = ["riscv64-linux-gnu-gcc", "-O2", *freestanding]
    cross += ["-o", program, here / "loops.c"]
    subprocess.run(cross, check=True)
    subprocess.run(["gcc", "-O2", "-o", clock, here / "clock.c"], check=True)
    ours: list[str | Path] = [
        Path(build) / "tests/machine_bare",
        "--way",
        "user",
        "--limit",
        "10000000000",
        "--count",
    ]

    ghz = float(timed(clock)[1].stdout)
    seconds, done = timed(*ours, program) if machine == "tandem" else timed("qemu-riscv64", program)
    counted = timed(*ours, program)[1]
    if counted.stdout != done.stdout:
        sys.exit(f"loops.py: {machine} printed {done.stdout!r}, our harts {counted.stdout!r}")
    instructions = int(counted.stderr.split()[0])
    result = {
        "instructions": instructions,
        "ns_per_instruction": 1e9 * seconds / instructions,
        "cycles_per_instruction": ghz * 1e9 * seconds / instructions,
        "ghz": ghz,
    }
    Path(output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
