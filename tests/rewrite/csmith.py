# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of csmith with functions marked at random, rewritten and compiled by gcc.

    csmith.py [MINUTES [SEED]]    default: 10 minutes, a seed of its own, which is printed

Each prints the checksum of its variables; so must its sections, in every mode, at two levels of
optimisation, on gcc's libitm and on ours, while another thread is alive. What tandem rewrite
refuses in one line, as its documents say, is counted; what gcc then refuses, and a checksum that is
another, are failures: the files stay in build/csmith. Needs csmith, gcc and the build in
TANDEM_BUILD.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

BUILD = Path(os.environ["TANDEM_BUILD"]).resolve()
KEPT = BUILD.parent / "csmith"
HEADERS = "/usr/include/csmith"
SECONDS = 10  # of a run; a program that takes longer in plain is left out
CSMITH = ("--max-funcs", "6", "--max-block-depth", "3", "--no-argc", "--quiet")
# csmith leaves out these kinds of data, by turns: with all of them few sections are transactions.
WITHOUT = ("--no-volatiles", "--no-bitfields", "--no-const-struct-union-fields", "--no-unions")
DEFINITION = re.compile(r"^static (?=[^;\n]*\bfunc_\d+\([^;\n]*\)\n\{)", re.MULTILINE)
BESIDE = """#include <pthread.h>
#include <unistd.h>
static void *rest(void *unused) { for (;;) pause(); return unused; }
__attribute__((constructor)) static void beside(void) {
  pthread_t thread;
  if (pthread_create(&thread, 0, rest, 0) != 0)
    _exit(3);
}
"""
# By mode: what the program runs with.
LIBRARIES: dict[str, tuple[dict[str, str], ...]] = {
    "locks": ({},),
    "hybrid": (
        {"ITM_DEFAULT_METHOD": "ml_wt"},
        {"LD_LIBRARY_PATH": str(BUILD / "lib"), "TANDEM_ALGORITHM": "eager"},
        {"LD_LIBRARY_PATH": str(BUILD / "lib"), "TANDEM_ALGORITHM": "norec"},
    ),
    "stm": ({"ITM_DEFAULT_METHOD": "ml_wt"},),
}


class WrongError(Exception):
    """What is wrong with a program, in one line."""


def run(words: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS * 30 if "gcc" in words[0] or "tandem" in words[0] else SECONDS,
        check=False,
    )


def gcc(folder: Path, source: str, level: str, *options: str) -> str:
    """Compiles `source` beside a second thread; the program's name, or WrongError."""
    words = ["gcc", "-w", level, "-fwrapv", "-fno-strict-aliasing", "-pthread", *options]
    words += ["-I", HEADERS, source, "beside.c", "-o", f"{source}{level}.program"]
    done = run(words, folder)
    if done.returncode != 0:
        raise WrongError(f"gcc refuses {source}: {done.stderr.splitlines()[:2]}")
    return f"./{source}{level}.program"


def write(folder: Path, source: random.Random) -> bool:
    """The program, plain and marked; false: it takes too long in plain."""
    without = [x for x in WITHOUT if source.random() < 0.7]
    seed = str(source.randrange(1, 1 << 31))
    text = run(["csmith", *CSMITH, *without, "--seed", seed], folder).stdout
    (folder / "plain.c").write_text(text)

    def mark(found: re.Match[str]) -> str:
        return "__attribute__((atomic)) " * (source.random() < 0.5) + found[0]

    marked = DEFINITION.sub(mark, text)
    if marked == text:
        marked = DEFINITION.sub(lambda found: "__attribute__((atomic)) " + found[0], text, count=1)
    (folder / "marked.c").write_text(marked)
    (folder / "beside.c").write_text(BESIDE)
    try:
        (folder / "expected").write_text(run([gcc(folder, "plain.c", "-O0")], folder).stdout)
    except subprocess.TimeoutExpired:
        return False
    return True


def check(folder: Path, mode: str, counts: Counter[str]) -> None:
    name = f"{mode}.c"
    words = [str(BUILD / "bin/tandem"), "rewrite", "--mode", mode, "marked.c", "--", "-w"]
    done = run([*words, "-I", HEADERS], folder)
    if done.returncode == 2 and done.stderr.splitlines()[-1].startswith("tandem rewrite: "):
        counts[f"{mode}: refused"] += 1
        return
    if done.returncode != 0:
        raise WrongError(f"tandem rewrite ends with {done.returncode}: {done.stderr[-300:]}")
    (folder / name).write_text(done.stdout)
    counts[f"{mode}: transactions"] += "__transaction_atomic" in done.stdout
    counts[mode] += 1
    expected = (folder / "expected").read_text()
    for level in ("-O0", "-O2"):
        program = gcc(folder, name, level, *([] if mode == "locks" else ["-fgnu-tm"]))
        for environment in LIBRARIES[mode]:
            printed = run([program], folder, **environment)
            if (printed.returncode, printed.stdout) != (0, expected):
                raise WrongError(
                    f"{program} with {environment} ends with {printed.returncode} and prints "
                    f"{printed.stdout!r}, not {expected!r} {printed.stderr[-200:]}"
                )


def main(arguments: list[str]) -> int:
    minutes = float(arguments[0]) if arguments else 10.0
    seed = int(arguments[1]) if len(arguments) > 1 else random.SystemRandom().randrange(1 << 32)
    print(f"csmith: {minutes:g} minutes, seed {seed}", flush=True)
    end = time.monotonic() + 60 * minutes
    counts: Counter[str] = Counter()
    failed = 0
    while time.monotonic() < end:
        folder = KEPT / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        counts["programs"] += 1
        try:
            if write(folder, random.Random(seed)):
                for mode in LIBRARIES:
                    check(folder, mode, counts)
            else:
                counts["too long"] += 1
            shutil.rmtree(folder)
        except (WrongError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"seed {seed}: {error}; its files are in {folder}", flush=True)
        seed += 1
    print("csmith:", ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    if counts["hybrid: transactions"] == 0:
        print("csmith: no program had a transaction")
        failed += 1
    print(f"csmith: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
