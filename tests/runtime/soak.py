# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs everything that checks itself, over and over, with other seeds: not for every change.

    TANDEM_BUILD=BUILD tests/runtime/soak.py [MINUTES]      default: 30

Recorded histories (runtime_opacity), mixed structures with invariants (workloads/micro), and the
programs about opacity, privatisation and frames, under every algorithm and policy. Ends with status
1 at the first thing that is wrong, and says how it was run.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tandem.experiment.host import has_rtm

ROOT = Path(__file__).resolve().parents[2]
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
PROGRAMS = ("opaque", "privatise", "frames", "nesting", "handlers")
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
# A program hangs if it has used so much processor time, or none at all in so many seconds: whoever
# runs at the lowest priority on a busy machine gets little of it, and is no finding.
MOST_SECONDS = 300.0
STILL_SECONDS = 300.0


def hardware(build: Path, seed: int) -> dict[str, str]:
    """In the emulator (rtm_emulator/), where the processor has no RTM."""
    choice = {"TANDEM_ALGORITHM": "htm"}
    if has_rtm():
        return choice
    return choice | {
        "LD_PRELOAD": str(build / "tests/librtm_emulator.so"),
        "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
        "RTM_EMULATOR_SEED": str(seed),
        "RTM_EMULATOR_ABORTS": str(seed % 70),
    }


def configurations() -> list[dict[str, str]]:
    found = [{"TANDEM_ALGORITHM": name} for name in ("auto", "serial", "norec")]
    for algorithm, policy, backoff in itertools.product(
        ("eager", "lazy", "two-phase"), POLICIES, BACKOFFS
    ):
        choice = {"TANDEM_ALGORITHM": algorithm, "TANDEM_POLICY": policy}
        found.append(choice | {"TANDEM_BACKOFF": backoff})
    return found


def compile_programs(folder: Path) -> list[list[str]]:
    flags = ["gcc", "-O2", "-w", "-fgnu-tm", "-pthread"]
    commands = []
    for name in PROGRAMS:
        source = ROOT / f"tests/runtime/gnu_tm/{name}.c"
        subprocess.run([*flags, str(source), "-o", str(folder / name)], check=True)
        commands.append([str(folder / name)])
    micro = ROOT / "workloads/micro"
    sources = [str(micro / "micro.c"), str(micro / "structures.c")]
    subprocess.run([*flags, "-DMICRO_GNU_TM", *sources, "-o", str(folder / "micro")], check=True)
    commands += [[str(folder / "micro"), name, "8", "500"] for name in BENCHMARKS]
    return commands


def processor_seconds(process: int) -> float:
    """Of a process that has not been waited for."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(command: list[str], environment: dict[str, str]) -> tuple[str | None, str]:
    """What is wrong, and what it has said."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        used, since, wrong = 0.0, time.monotonic(), None
        while wrong is None and process.poll() is None:
            time.sleep(0.05)
            now = processor_seconds(process.pid)
            if now != used:
                used, since = now, time.monotonic()
            if used > MOST_SECONDS:
                wrong = f"does not end in {MOST_SECONDS:g} seconds of processor time"
            elif time.monotonic() - since > STILL_SECONDS:
                wrong = f"has not run for {STILL_SECONDS:g} seconds"
        if wrong is not None:
            process.kill()
        status = process.wait()
        if wrong is None and status != 0:
            wrong = f"status {status}"
        said.seek(0)
        return wrong, said.read().decode(errors="replace")


def main() -> int:
    build = Path(os.environ["TANDEM_BUILD"])
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 30
    end = time.monotonic() + 60 * minutes
    chosen = random.Random(time.time_ns())
    runs = 0
    with tempfile.TemporaryDirectory(prefix="tandem-soak-") as place:
        programs = compile_programs(Path(place))
        recorder = str(build / "tests/runtime_opacity")
        while time.monotonic() < end:
            configuration = chosen.choice(configurations())
            histories = "200"
            if chosen.random() < 0.2:
                configuration, histories = hardware(build, chosen.randrange(1 << 40)), "20"
            history = [recorder, str(chosen.randrange(1 << 40)), histories]
            command = history if chosen.random() < 0.5 else chosen.choice(programs)
            environment = os.environ | configuration | {"LD_LIBRARY_PATH": str(build / "lib")}
            wrong, said = run(command, environment)
            if wrong is not None:
                print(f"{wrong}: {configuration} {' '.join(command)}\n{said}", flush=True)
                return 1
            runs += 1
    print(f"{runs} runs in {minutes:g} minutes: all well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
