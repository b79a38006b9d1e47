#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Harts with time, as JSON: host cycles an instruction of all harts, and the miss rate beside.

    timing.py PROTOCOL HARTS KIB SOURCE BUILD WORK OUTPUT      PROTOCOL: functional or a protocol;
                                                               NAME-window: on cores with a window

Cycles are the simulator's processor time, its start included, times the clock, which a loop of
dependent additions tells just before; MIPS are those of a host core of
3 GHz that takes as many cycles.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path


def processor_seconds() -> float:
    """Of all commands so far, whatever else the machine did meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    protocol, harts, kib, source, build, work, output = sys.argv[1:]
    machine = Path(build) / "libexec/tandem-machine"
    if not machine.exists():
        sys.exit(f"timing.py: {machine}: not found; run: scripts/build release")
    here, folder = Path(source) / "bench/harts", Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    program, clock, file = folder / "threads", folder / "clock", folder / "run.json"
    cross = [
        "riscv64-linux-gnu-gcc",
        "-O2",
        "-static",
        "-pthread",
        f"-I{source}/include",
    ]
    subprocess.run([*cross, "-o", program, here / "threads.c"], check=True)
    subprocess.run(["gcc", "-O2", "-o", clock, here / "clock.c"], check=True)
    name, model = protocol.removesuffix("-window"), "in-order"
    if name != protocol:
        model = "window"
    options = ["--protocol", name, "--mode", "functional", "--set", f"hart.model={model}"]
    if protocol == "functional":
        options = []
    ghz = float(subprocess.run([clock], check=True, capture_output=True, text=True).stdout)
    turns = "1000000" if protocol == "functional" else "60000"
    before = processor_seconds()
    subprocess.run(
        [
            machine,
            "exec",
            "--harts",
            harts,
            "--json",
            file,
            *options,
            program,
            harts,
            kib,
            turns,
            "64",
        ],
        check=True,
        capture_output=True,
    )
    seconds = processor_seconds() - before
    run = json.loads(file.read_text(encoding="utf-8"))
    instructions, misses, cycles = run["instructions"], 0.0, 0
    if protocol != "functional":
        counts = run["timing"]["regions"][0]["counts"]
        misses = 100 * counts["misses"] / counts["timed_instructions"]
        cycles = counts["timed_cycles"]
    host = ghz * 1e9 * seconds / instructions
    result = {
        "instructions": instructions,
        "simulated_cycles": cycles,
        "misses_per_100": misses,
        "cycles_per_instruction": host,
        "mips_at_3_ghz": 3000 / host,
        "ghz": ghz,
    }
    Path(output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
