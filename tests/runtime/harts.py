# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's tests as programs for the simulated machine's harts (docs/machine/sections.md).

Those of gcc -fgnu-tm by the cross gcc, the unit tests by clang with Debian's GoogleTest from
source; both are linked by tandem-c++, which adds the runtime.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["TANDEM_BUILD"])
MACHINE = BUILD / "libexec" / "tandem-machine"
TARGET = "--target=riscv64-linux-gnu"
GOOGLETEST = Path("/usr/src/googletest")
SOFTWARE = ("serial", "eager", "lazy", "norec", "two-phase")
ALGORITHMS = ("auto", *SOFTWARE, "htm")
# The proxy kernel serves no processes.
PROCESSES = "*Death*:*Child*:*Fork*:*EndsTheProcess*"
SECONDS = 600  # a run that takes longer hangs


@dataclass(frozen=True, slots=True)
class Program:
    """A test program; its sources are below src/runtime, or tests/runtime for gcc's."""

    name: str
    sources: tuple[str, ...]
    by_gcc: bool = False
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ALGORITHMS
    filters: dict[str, str] = field(default_factory=dict)  # of GoogleTest, by algorithm
    environment: tuple[str, ...] = ()


def gnu_tm(source: str, *arguments: str, options: tuple[str, ...] = ()) -> Program:
    return Program(
        source.partition(".")[0],
        (f"gnu_tm/{source}",),
        by_gcc=True,
        options=options,
        arguments=arguments,
    )


# The first argument is how often; a hart is a hundred times slower than a processor.
GNU_TM = (
    gnu_tm("nesting.c"),
    gnu_tm("handlers.c"),
    gnu_tm("succession.c"),
    gnu_tm("types.c"),
    gnu_tm("exceptions.cc", "40"),
    gnu_tm("frames.c", "100"),
    gnu_tm("opaque.c", "100"),
    gnu_tm("pointers.c"),
    # A thread more than harts: docs/design/0216-who-was-woken-looks-for-a-while.md.
    gnu_tm("privatise.c", "40", options=("-march=rv64gc_zihintpause",)),
    gnu_tm("progress.c", "8", "5"),
)

ENGINE = "abi/inline_barriers.cc"
# What src/runtime/CMakeLists.txt has of each: sources, and what an algorithm leaves out.
UNIT = (
    Program("memory", ("memory/memory_test.cc",), algorithms=("norec",)),
    Program("hardware", ("algorithms/hardware_test.cc",), algorithms=("norec",)),
    Program("colours", ("irrevocable/colours_test.cc",), algorithms=("norec",)),
    Program(
        "phases",
        ("phases/phases_test.cc", "phases/trial_test.cc", "phases/inline.c"),
        algorithms=("norec",),
    ),
    Program(
        "engine",
        ("transaction/engine_test.cc",),
        filters=dict.fromkeys(
            ("auto", "serial", "two-phase", "htm"), "-*who_waits_for_a_snapshot*"
        ),
    ),
    Program("additions", ("algorithms/additions_test.cc", ENGINE)),
    Program(
        "contention",
        ("transaction/contention_test.cc",),
        algorithms=("eager",),
        environment=(
            "TANDEM_POLICY=stall",
            "TANDEM_HOURGLASS=2",
            "TANDEM_SERIALISE_AFTER=never",
        ),
    ),
    Program(
        "automatic",
        ("algorithms/automatic_test.cc",),
        algorithms=("auto",),
        environment=("TANDEM_HARDWARE=off",),
    ),
    Program(
        "short",
        ("transaction/short_test.cc",),
        algorithms=("auto", *SOFTWARE),
        filters={
            "auto": "*IsAtomic*",
            "norec": "-*WithLocks*",
            "two-phase": "-*IsSeen*",
            "serial": "-*IsSeen*:*WithLocks*",
            "eager": "-*IsSeen*:*WithLocks*",
            "lazy": "-*IsSeen*:*WithLocks*",
        },
    ),
    Program(
        "guarded_by",
        ("transaction/guarded_by_test.cc", ENGINE),
        algorithms=("auto", *SOFTWARE),
        filters={
            "auto": "*IsAtomic*",
            "serial": "-*WhatItReads*:*HoldsItsLock*:*BesideTheClock:*ATryFails*",
            "two-phase": "-*WhatItReads*:*BesideTheClock",
            "eager": "-*BesideTheClock",
            "lazy": "-*BesideTheClock",
        },
    ),
    Program(
        "guarded_by_mode",
        ("transaction/guarded_by_mode_test.cc", ENGINE),
        algorithms=("auto", *SOFTWARE),
    ),
    Program(
        "guarded",
        ("transaction/guarded_test.cc", "transaction/guarded_nesting_test.cc"),
        filters={"serial": "-*BesidePureTransactions"},
    ),
    *(
        Program(
            name,
            sources,
            options=("-fno-builtin",),
            algorithms=("auto", "serial", "eager", "lazy", "norec"),
            # About the copies that software works on; hardware uses the memory itself.
            environment=("TANDEM_HARDWARE=off",) if name == "marshal" else (),
        )
        for name, sources in {
            "strings": ("library/strings_test.cc",),
            "values": ("library/values_test.cc", "library/characters_test.cc"),
            "actions": ("library/actions_test.cc",),
            "marshal": ("library/marshal_test.cc",),
        }.items()
    ),
)


def opacity(seed: int, histories: int) -> Program:
    folder = ROOT / "tests/runtime/opacity"
    return Program(
        "opacity",
        (str(folder / "record.cc"), str(folder / "checker.cc")),
        options=(f"-I{folder}",),
        arguments=(str(seed), str(histories)),
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    output: str


def command(*words: str | Path) -> None:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Harts:
    """Builds into a folder, and runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def build(self, program: Program) -> Path:
        made = self.folder / program.name
        if made.exists():
            return made
        objects = [self._compile(program, x) for x in program.sources]
        if not program.by_gcc and program.name != "opacity":
            objects += self._googletest()
        linker = BUILD / "bin/tandem-c++"
        words = (TARGET, "-ftandem-enforce=stm", "-pthread")
        command(linker, *words, *objects, "-o", made.with_suffix(".part"))
        made.with_suffix(".part").rename(made)
        return made

    def _compile(self, program: Program, source: str) -> Path:
        base = ROOT / ("tests" if program.by_gcc else "src") / "runtime"
        path = base / source
        made = self.folder / f"{program.name}.{path.stem}.o"
        words: list[str | Path]
        if program.by_gcc:
            name = "gcc" if path.suffix == ".c" else "g++"
            words = [f"riscv64-linux-gnu-{name}", "-O2", "-w", "-fgnu-tm"]
        else:
            words = self._clang(path.suffix == ".c")
            words += [f"-I{ROOT / x}" for x in ("", "src", "include")]
            words += [f"-I{GOOGLETEST / x / 'include'}" for x in ("googletest", "googlemock")]
        command(*words, "-pthread", *program.options, "-c", path, "-o", made)
        return made

    def _googletest(self) -> list[Path]:
        folders = [GOOGLETEST / x for x in ("googletest", "googlemock")]
        includes = [f"-I{x}" for folder in folders for x in (folder, folder / "include")]
        objects = []
        for source in (
            "googletest/src/gtest-all.cc",
            "googlemock/src/gmock-all.cc",
            "googlemock/src/gmock_main.cc",
        ):
            made = self.folder / (Path(source).stem + ".o")
            if not made.exists():
                words = [*self._clang(False), "-w", "-pthread", *includes, "-c"]
                command(*words, GOOGLETEST / source, "-o", made)
            objects.append(made)
        return objects

    @staticmethod
    def _clang(c: bool) -> list[str | Path]:
        language: list[str | Path] = (
            ["clang-19", "-std=gnu17"] if c else ["clang++-19", "-std=c++20"]
        )
        return [*language, TARGET, "-march=rv64gc", "-O1", "-fno-threadsafe-statics"]

    @staticmethod
    def _filter(program: Program, algorithm: str) -> str:
        given = program.filters.get(algorithm, "*")
        return f"{given}{':' if '-' in given else '-'}{PROCESSES}"

    def run(self, program: Program, algorithm: str, *words: str) -> Outcome:
        environment = [f"TANDEM_ALGORITHM={algorithm}", *program.environment]
        line: list[str | Path] = [MACHINE, "exec", "--quiet", "--harts", "4"]
        line += words
        line += [x for each in environment for x in ("--env", each)]
        line += [self.build(program), *program.arguments]
        if not program.by_gcc and program.name != "opacity":
            line.append(f"--gtest_filter={self._filter(program, algorithm)}")
        done = subprocess.run(
            [*map(str, line)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
        return Outcome(done.returncode, done.stdout)
