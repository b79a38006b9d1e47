#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linux to its shell, or its stress script on 16 harts, here or on QEMU, as JSON.

    boot.py MACHINE WORKLOAD SOURCE BUILD WORK OUTPUT
        MACHINE: tandem, qemu; WORKLOAD: boot, stress, flask (boot on 16 harts of ours with time)

Processor time of the whole command. The instructions are those of our harts (harts that wait run
none; those that spin do, and differently elsewhere). The memory beside the guest's is the resident
memory less the pages that the guest has written, which a checkpoint counts. The clock is that of a
loop of dependent additions.
"""

import json
import subprocess
import sys
from pathlib import Path

HARTS = {"boot": 1, "stress": 16, "flask": 16}
RUN = {"boot": "true", "stress": "stress", "flask": "true"}
TIMING = {"flask": ["--mode", "timing", "--protocol", "flask"]}


def timed(*command: str | Path) -> tuple[float, float, str]:
    """Processor seconds of a command, its largest resident memory in MB, and what it wrote."""
    words = [sys.executable, "-c", MEASURE, *map(str, command)]
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    seconds, kilobytes = done.stderr.splitlines()[-1].split()
    return float(seconds), float(kilobytes) / 1024, done.stdout


# In a process of its own: the largest of all children is all that the system tells.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""


def main() -> None:
    machine, workload, source, build, work, output = sys.argv[1:]
    folder = Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    tandem = Path(build) / "bin/tandem"
    built = [str(tandem), "machine", "image", "linux"]
    said = subprocess.run(built, check=True, capture_output=True, text=True).stdout
    image = Path(said.splitlines()[-1])
    clock = folder / "clock"
    subprocess.run(["gcc", "-O2", "-o", clock, Path(source) / "bench/harts/clock.c"], check=True)
    facts, saved = folder / "facts.json", folder / "saved"
    ours: list[str | Path] = [
        tandem, "machine", "boot", "--harts", str(HARTS[workload]), "--run", RUN[workload],
        "--limit", "20G",
    ]  # fmt: skip
    theirs: list[str | Path] = [
        "qemu-system-riscv64", "-M", "virt", "-smp", str(HARTS[workload]), "-m", "512M",
        "-nographic", "-kernel", image / "Image", "-initrd", image / "initrd.cpio",
        "-append", f'console=ttyS0 run="{RUN[workload]}"',
    ]  # fmt: skip
    timing = TIMING.get(workload, [])
    if timing and machine != "tandem":
        sys.exit(f"boot.py: {workload} is for tandem")
    ghz = float(timed(clock)[2])
    seconds, resident_mb, shown = timed(*(ours if machine == "tandem" else theirs), *timing)
    if workload == "stress" and "stress: ok" not in shown:
        sys.exit(f"boot.py: {machine} printed {shown[-300:]!r}")
    timed(*ours, *timing, "--json", facts)
    timed(*ours, "--save", saved)
    instructions = json.loads(facts.read_text())["instructions"]
    result = {
        "instructions": instructions,
        "seconds": seconds,
        "mips": instructions / seconds / 1e6,
        "cycles_per_instruction": ghz * 1e9 * seconds / instructions,
        "beside_mb": resident_mb - saved.stat().st_size / 2**20,
        "ghz": ghz,
    }
    saved.unlink()
    Path(output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


main()
