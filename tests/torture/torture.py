# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gcc's own test programs, each run as one atomic section beside another thread.

    torture.py [--every N] [--only TEXT] [--modes stm,hybrid,...]     all programs; make verify

A program passes by ending with status 0. What a plain clang makes of it, run the same way, comes
first: programs that do not compile (gcc's extensions) or do not pass there say nothing about us,
and are counted. The sources are fetched (scripts/fetch-gcc-tests), never copied into the project.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tandem.experiment.progress import Progress

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SECONDS = 60.0  # of a program, on a busy machine
# Folders of gcc's C++ tests with programs that say what is right by their status.
FOLDERS = (
    *("coroutines", "cpp0x", "cpp1y", "cpp1z", "cpp2a", "eh", "expr", "inherit", "init", "lookup"),
    *("other", "overload", "rtti", "special", "template", "tls", "torture"),
)
# An enforcement and an algorithm of the runtime.
WAYS = (("hybrid", "auto"), ("stm", "norec"), ("stm", "lazy"), ("stm", "eager"), ("locks", "auto"))
# Programs that pass plainly and not in a section: each with the reason.
EXPECTED: dict[str, str] = {}


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: bool
    usable: bool  # whether it passes plainly
    told: str = ""


def fetch() -> Path:
    folder = ROOT / "build/downloads/gcc-tests"
    subprocess.run([str(ROOT / "scripts/fetch-gcc-tests"), str(folder)], check=True)
    return folder


def programs(folder: Path) -> list[Path]:
    """C before C++, in the order of their names."""
    c = sorted((folder / "c-torture").glob("**/*.c"))
    # Each needs a second file.
    c = [path for path in c if not path.name.endswith("-lib.c")]
    c = [path for path in c if not path.with_name(f"{path.stem}-lib.c").exists()]
    cxx = [
        path
        for name in FOLDERS
        for path in sorted((folder / "g++.dg" / name).glob("**/*.C"))
        if re.search(r"dg-do\s+run", path.read_text(errors="replace"))
        and "dg-additional-sources" not in path.read_text(errors="replace")
    ]
    return [*c, *cxx]


def environment(**variables: str) -> dict[str, str]:
    mine = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
    return {**mine, **variables}


def call(command: list[str], **variables: str) -> tuple[int, str]:
    """Status (124: no end; -N: signal N) and what was printed."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment(**variables),
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, "no end"
    return done.returncode, done.stdout[-2000:] + done.stderr[-2000:]


def flags_of(path: Path, text: str) -> list[str]:
    flags = ["-w", "-pthread", "-fno-builtin-abort", f"-I{path.parent}"]
    if path.suffix == ".c":
        flags += ["-std=gnu89" if "dg-std" not in text else "-std=gnu17"]
    else:
        flags += ["-std=gnu++20"]
    for options in re.findall(r'dg-(?:additional-)?options\s+"([^"]*)"', text):
        flags += [one for one in options.split() if re.match(r"-f|-std=|-D", one)]
    return flags


def has_arguments(text: str) -> bool:
    return re.search(r"\bmain\s*\(\s*(void)?\s*\)", text) is None


def prefix(folder: Path, arguments: bool, cxx: bool) -> Path:
    """The first lines of a program, which give its main another name."""
    parameters = ("int, char **" if arguments else "") if cxx else ""
    made = folder / f"prefix{int(arguments)}{int(cxx)}.h"
    made.write_text(f'int main({parameters}) __asm__("torture_main");\n')
    return made


def run_program(build: Path, path: Path, ways: Iterable[tuple[str, str]], level: str) -> Outcome:
    text = path.read_text(errors="replace")
    name = f"{path.parent.name}/{path.name}"
    cxx = path.suffix != ".c"
    arguments = has_arguments(text)
    driver = ["-DARGUMENTS"] if arguments else []
    with tempfile.TemporaryDirectory(prefix="tandem-torture-") as made:
        folder = Path(made)
        flags = [*flags_of(path, text), level, "-include", str(prefix(folder, arguments, cxx))]
        language = ["-x", "c++" if cxx else "c"]
        plain = "clang++-19" if cxx else "clang-19"
        obj, program = str(folder / "test.o"), str(folder / "test")
        status, told = call([plain, *flags, *language, "-c", str(path), "-o", obj])
        if status == 0:
            section = ["-w", "-pthread", "-DPLAIN", *driver, str(HERE / "section.c")]
            object_of_main = str(folder / "main.o")
            call(["clang-19", *section, "-c", "-o", object_of_main])
            status, told = call([plain, "-pthread", obj, object_of_main, "-lm", "-o", program])
        if status == 0:
            status, told = call([program])
        if status != 0:
            return Outcome(name, passed=False, usable=False, told=told)
        compiler = str(build / "bin" / ("tandem-c++" if cxx else "tandem-cc"))
        on = ["-ftandem-enforce=hybrid"]
        status, told = call([compiler, *on, *flags, *language, "-c", str(path), "-o", obj])
        main = [str(build / "bin/tandem-cc"), *on, "-w", "-pthread", level, *driver]
        main_object = str(folder / "section.o")
        if status == 0:
            status, told = call([*main, str(HERE / "section.c"), "-c", "-o", main_object])
        if status != 0:
            return Outcome(name, passed=False, usable=True, told=f"compiling: {status}: {told}")
        linked = ""
        for mode, algorithm in ways:
            if linked != mode:
                command = [compiler, f"-ftandem-enforce={mode}", "-pthread", level]
                status, told = call([*command, obj, main_object, "-lm", "-o", program])
                linked = mode
            if status == 0:
                status, told = call([program], TANDEM_ALGORITHM=algorithm)
            if status != 0:
                said = f"{mode}, {algorithm}, {level}: status {status}: {told}"
                return Outcome(name, passed=False, usable=True, told=said)
    return Outcome(name, passed=True, usable=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only those with it in their path"
    )
    parser.add_argument("--level", default="-O2", metavar="-ON")
    given = parser.parse_args()
    build = Path(os.environ.get("TANDEM_BUILD", ROOT / "build/release")).resolve()
    all_of_them = [path for path in programs(fetch()) if given.only in str(path)][:: given.every]
    outcomes = []
    with (
        ThreadPoolExecutor(int(os.environ.get("TANDEM_JOBS", os.cpu_count() or 1))) as pool,
        Progress.automatic().bar("torture", len(all_of_them)) as bar,
    ):
        for one in pool.map(lambda path: run_program(build, path, WAYS, given.level), all_of_them):
            outcomes.append(one)
            bar.advance(one.name)
            if one.usable and not one.passed:
                print(f"{one.name}: {one.told.strip()}", flush=True)
    failed = [one for one in outcomes if one.usable and not one.passed and one.name not in EXPECTED]
    late = [one.name for one in outcomes if one.passed and one.name in EXPECTED]
    for name in late:
        print(f"{name}: passes, and is expected to fail: {EXPECTED[name]}")
    known = sum(one.usable and not one.passed and one.name in EXPECTED for one in outcomes)
    print(
        f"{sum(one.passed for one in outcomes)} passed, {len(failed)} failed, "
        f"{known} that no section can run, "
        f"{sum(not one.usable for one in outcomes)} that plain clang does not run"
    )
    return 1 if failed or late else 0


if __name__ == "__main__":
    sys.exit(main())
