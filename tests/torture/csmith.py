# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random C programs (csmith) with sections: functions marked at random, threads that run them.

    csmith.py [MINUTES] [--seed N]     half an hour in make verify

Each marked function adds to one counter, by a read and a write with others in between. The
program's checksum must be that of a plain clang -O0, while another thread runs a section that only
adds, too, over and over; and nothing of what either adds may be lost. A failure names the seed,
which makes the same program again, and keeps the program.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAIN_SECONDS = 2.0  # csmith's programs may run for ever, and are not used then
RUN_SECONDS = 240.0  # with sections; they take milliseconds, however many run beside them
MODES = ("global-lock", "locks", "stm", "hybrid", "htm")
LEVELS = ("-O0", "-O1", "-O2", "-O3")
ALGORITHMS = ("norec", "lazy", "eager", "two-phase", "serial", "auto")

# In front of the program: the counter, and the thread beside it. With -DPLAIN nothing is atomic and
# the thread runs first. The counter is printed without what the thread has added.
PROLOGUE = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef PLAIN
#define ATOMIC
#else
#define ATOMIC __attribute__((atomic, noinline))
#endif
static long tandem_counter;
static inline void tandem_count(void) {
  long before = tandem_counter;
  for (volatile int i = 0; i < 400; ++i) {
  }
  tandem_counter = before + 1;
}
ATOMIC static void tandem_other(void) { tandem_count(); }
static atomic_bool tandem_done;
static atomic_bool tandem_running;
static long tandem_by_others;
static void *tandem_others(void *unused) {
  atomic_store(&tandem_running, 1);
  while (!atomic_load(&tandem_done)) {
    tandem_other();
    ++tandem_by_others;
    for (volatile int i = 0; i < 100; ++i) {
    }
  }
  return unused;
}
static pthread_t tandem_thread;
static void tandem_begin(void) {
  if (pthread_create(&tandem_thread, 0, tandem_others, 0) != 0)
    abort();
#ifdef PLAIN
  atomic_store(&tandem_done, 1);
  pthread_join(tandem_thread, 0);
#else
  while (!atomic_load(&tandem_running)) {
  }
#endif
}
static void tandem_end(void) {
  atomic_store(&tandem_done, 1);
#ifndef PLAIN
  pthread_join(tandem_thread, 0);
#endif
  printf("counter %ld\\n", tandem_counter - tandem_by_others);
}
"""


class UnusableError(Exception):
    """A program that plain clang does not compile or run to its end."""


@dataclass(frozen=True)
class Failure:
    seed: int
    told: str
    program: Path


def call(
    command: list[str], seconds: float, cwd: Path | None = None, **variables: str
) -> tuple[int, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            cwd=cwd,
            env={**inherited, **variables},
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, "no end"
    return done.returncode, done.stdout + done.stderr


def source_of(seed: int) -> str:
    """csmith's program of that seed, its functions marked at random."""
    options = ["--max-funcs", "8", "--max-block-depth", "3", "--no-packed-struct"]
    with tempfile.TemporaryDirectory() as folder:  # it leaves a file where it runs
        command = ["csmith", "--seed", str(seed), *options]
        status, text = call(command, 60, cwd=Path(folder))
    if status != 0:
        raise UnusableError(text)
    rng = random.Random(seed)
    # Declarations come first, where the mark has to be; a marked definition counts.
    marked: set[str] = set()
    lines = []
    for line in text.splitlines():
        declared = re.match(r"static .*?(func_\d+)\(.*\);$", line)
        chosen = declared is not None and rng.random() < 0.5
        if declared is not None and chosen:
            marked.add(declared[1])
        lines.append(f"ATOMIC {line}" if chosen else line)
    text = "\n".join(lines)
    for name in marked:
        text = re.sub(
            rf"^(static [^;\n]*?\b{name}\([^;]*?\)\n\{{[^\n]*\n)",
            r"\1    tandem_count();\n",
            text,
            flags=re.M,
        )
    text = re.sub(r"^int main .*\n\{", r"\g<0>\n    tandem_begin();", text, flags=re.M)
    text = text.replace("platform_main_end(", "tandem_end();\n    platform_main_end(")
    return PROLOGUE + text


def check(build: Path, folder: Path, seed: int) -> Failure | None:
    """Raises UnusableError."""
    source = folder / f"csmith{seed}.c"
    source.write_text(source_of(seed), encoding="utf-8")
    rng = random.Random(seed)
    common = ["-w", "-pthread", "-I", "/usr/include/csmith", str(source)]
    plain = folder / f"plain{seed}"
    # One that loops for ever does so at -O0: from -O1 on clang may delete a loop without effects.
    status, told = call(["clang-19", "-O0", "-DPLAIN", *common, "-o", str(plain)], 120)
    if status != 0:
        raise UnusableError(told)
    status, expected = call([str(plain)], PLAIN_SECONDS)
    if status != 0:
        raise UnusableError(expected)
    mode, level = rng.choice(MODES), rng.choice(LEVELS)
    program = folder / f"program{seed}"
    command = [str(build / "bin/tandem-cc"), f"-ftandem-enforce={mode}", level, "-g", *common]
    status, told = call([*command, "-o", str(program)], 600)
    if status != 0:
        return Failure(seed, f"{' '.join(command)}: status {status}: {told}", source)
    for algorithm in rng.sample(ALGORITHMS, 2) if mode in ("stm", "hybrid") else ("auto",):
        status, output = call([str(program)], RUN_SECONDS, TANDEM_ALGORITHM=algorithm)
        if status != 0 or output != expected:
            said = (
                f"{mode} {level} {algorithm}: status {status}, {output!r} instead of {expected!r}"
            )
            return Failure(seed, said, source)
    for made in (source, plain, program):
        made.unlink()
    return None


@dataclass(frozen=True)
class Result:
    passed: int
    unusable: int
    failures: tuple[Failure, ...]


def run(
    build: Path, folder: Path, seed: int, jobs: int, seconds: float = math.inf, most: int = 1 << 31
) -> Result:
    """Programs of the seeds from `seed` on: `most`, or what fits into the time, at least one."""
    end = time.monotonic() + seconds
    passed = unusable = 0
    failures: list[Failure] = []

    def one(number: int) -> Failure | bool | None:
        if number >= most or (number > 0 and time.monotonic() > end):
            return False
        try:
            return check(build, folder, seed + number)
        except UnusableError:
            return True

    with ThreadPoolExecutor(jobs) as pool:
        number = 0
        while number == 0 or (number < most and time.monotonic() < end):
            for outcome in pool.map(one, range(number, number + jobs)):
                if outcome is None:
                    passed += 1
                elif isinstance(outcome, Failure):
                    failures.append(outcome)
                elif outcome:
                    unusable += 1
            number += jobs
    return Result(passed, unusable, tuple(failures))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=None, help="of the first program")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if given.seed is None else given.seed
    print(f"seeds from {seed} on", flush=True)
    build = Path(os.environ.get("TANDEM_BUILD", ROOT / "build/release")).resolve()
    folder = Path(tempfile.mkdtemp(prefix="tandem-csmith-"))
    jobs = int(os.environ.get("TANDEM_JOBS", os.cpu_count() or 1))
    result = run(build, folder, seed, jobs, seconds=given.minutes * 60)
    for failure in result.failures:
        print(f"seed {failure.seed}: {failure.told}\n  kept: {failure.program}")
    print(
        f"{result.passed} passed, {len(result.failures)} failed, "
        f"{result.unusable} that a plain clang does not run to their end"
    )
    if not result.failures:
        shutil.rmtree(folder)
    return 1 if result.failures or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main())
