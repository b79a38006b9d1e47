#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One search of the snooping protocol by our checker or by Spin, as JSON.

    checker_peer.py CHECKER CORES BUILD WORK OUTPUT      CHECKER: tandem, tandem-symmetry, spin

Spin searches mesi_snoop.pml: depth first, all states stored, safety only, no partial-order
reduction, compiled at -O2. `-o2` turns its optimisation of dead variables off, which takes hidden
variables for dead ones and then finds fewer states than there are.
"""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path


def tandem(cores: str, build: Path, output: Path, symmetry: bool) -> None:
    command = [str(build / "bin/tandem"), "machine", "check", "mesi-snoop", "--cores", cores]
    command += ["--safety", "--json", str(output), *([] if symmetry else ["--no-symmetry"])]
    subprocess.run(command, check=True)


def spin(cores: str, work: Path, output: Path) -> None:
    model = Path(__file__).with_name("mesi_snoop.pml")
    work.mkdir(parents=True, exist_ok=True)
    subprocess.run(["spin", "-o2", f"-DN={cores}", "-a", model], cwd=work, check=True)
    options = ["-O2", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=4000"]
    subprocess.run(["cc", *options, "-o", "pan", "pan.c"], cwd=work, check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = subprocess.run(
        ["./pan", "-m5000000"], cwd=work, check=True, capture_output=True, text=True
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    states = re.search(r"(\d+) states, stored", found)
    memory = re.search(r"([\d.]+)\s+actual memory usage for states", found)
    if states is None or memory is None or "errors: 0" not in found or "truncated" in found:
        sys.exit(f"checker_peer.py: spin did not search everything:\n{found}")
    search = {
        "states": int(states[1]),
        "cpu_ns_per_state": 1e9 * seconds / int(states[1]),
        "bytes_per_state": float(memory[1]) * 2**20 / int(states[1]),
    }
    output.write_text(json.dumps({"protocol": "mesi-snoop", "searches": [search]}, indent=2) + "\n")


def main() -> None:
    checker, cores, build, work, output = sys.argv[1:]
    if checker == "spin":
        spin(cores, Path(work), Path(output))
    else:
        tandem(cores, Path(build), Path(output), symmetry=checker == "tandem-symmetry")


if __name__ == "__main__":
    main()
