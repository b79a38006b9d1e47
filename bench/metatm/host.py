#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the simulator spends on transactions, as JSON: host instructions of a simulated one.

    host.py STRUCTURE HOW THREADS SOURCE BUILD WORK OUTPUT      HOW: htm or lock

Two runs of workloads/metatm/structures.c on `mesi-snoop` with the configuration `metatm` under
callgrind, one with three times the operations of the other: what they differ by is free of
start-up. Counts of instructions, so that the load of the host changes nothing.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

OPERATIONS = {"counter": 400, "list": 40, "tree": 60, "hash": 100}  # of a thread


def run(machine: Path, words: list[str], folder: Path) -> tuple[int, int]:
    """Host instructions and simulated ones."""
    file = folder / "run.json"
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", machine, "exec"]
    command += ["--json", file, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or done.stdout != "right\n" or counted is None:
        sys.exit(f"host.py: {' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return int(counted[1]), json.loads(file.read_text(encoding="utf-8"))["instructions"]


def main() -> None:
    structure, how, threads, source, build, work, output = sys.argv[1:]
    machine = Path(build) / "libexec/tandem-machine"
    if not machine.exists():
        sys.exit(f"host.py: {machine}: not found; run: scripts/build release")
    folder = Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "structures"
    code = Path(source) / "workloads/metatm/structures.c"
    cross = ["riscv64-linux-gnu-gcc", "-O2", "-static", "-pthread", f"-I{source}/include"]
    subprocess.run([*cross, "-o", program, code], check=True)
    # Without what its debugger would read, which valgrind does not understand.
    stripped = folder / "machine"
    subprocess.run(["strip", "--strip-debug", "-o", stripped, machine], check=True)
    words = ["--harts", threads, "--protocol", "mesi-snoop", "--config", "metatm"]
    words += ["--tx-limit", "16", str(program), structure, how, threads]
    few = OPERATIONS[structure]
    short, long = (run(stripped, [*words, str(n)], folder) for n in (few, 3 * few))
    host, simulated = long[0] - short[0], long[1] - short[1]
    result = {
        "host_instructions": host,
        "simulated_instructions": simulated,
        "per_instruction": host / simulated,
    }
    Path(output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
