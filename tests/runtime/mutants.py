# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts bugs into the runtime's engine, one at a time, and shows that the tests' programs find them.

    tests/runtime/mutants.py [--by PROGRAM] [NAME...]

The bugs are in engine_bugs.py. Default: the engine as it is, then every bug, by all programs that
may find it; `--by opacity` asks only the recorder of histories (tests/runtime/opacity), which knows
nothing about the bugs. A bug that no program finds within ATTEMPTS runs, and a finding in the
engine as it is, are failures: exit status 1. Compiles in a folder of its own; the project's files
stay as they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from engine_bugs import BUGS, Bug
from tandem.experiment.host import has_rtm

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/runtime/gnu_tm"
OPACITY = ROOT / "tests/runtime/opacity"
ATTEMPTS = 40
HISTORIES = 100  # that the recorder makes in one attempt
# Of the engine's own tests, which are compiled for bugs that they are to find: sources below
# src/runtime/.
UNIT = {
    "additions": ["algorithms/additions_test.cc", "abi/inline_barriers.cc"],
    "guarded-by": ["transaction/guarded_by_test.cc", "abi/inline_barriers.cc"],
    "guarded_by_mode": ["transaction/guarded_by_mode_test.cc", "abi/inline_barriers.cc"],
    "automatic": ["algorithms/automatic_test.cc"],
    "short": ["transaction/short_test.cc"],
}
# Parts of them, many times: what is found by chance.
PARTS = {
    "locks-guarded-by": [
        "guarded-by",
        "--gtest_filter=*IsAtomic*:*Irrevocable*",
        "--gtest_repeat=10",
    ],
    "in-place": ["guarded_by_mode", "--gtest_filter=*IsAtomic*:*Irrevocable*", "--gtest_repeat=10"],
    "changes": ["automatic", "--gtest_filter=*lose_nothing", "--gtest_repeat=20"],
    "shorts": ["short", "--gtest_filter=*IsAtomic*", "--gtest_repeat=10"],
    "alone": ["short", "--gtest_filter=*OnlyWritten*"],
    "fork": ["short", "--gtest_filter=*Fork"],
}
SECONDS = 30  # a program that takes longer hangs, which is a finding
# Arguments in the emulator of hardware transactions, which takes a few hundred microseconds for
# one.
SHORT = {
    "opaque": ["150"],
    "privatise": ["600"],
    "frames": ["150"],
    "opacity": ["{seed}", "10"],
    "micro": ["tree-50", "4", "200"],
}


def source_names(source: Path, *variables: str) -> list[str]:
    """The files that variables of runtime/CMakeLists.txt name."""
    folder = source / "runtime"
    listing = "".join(
        (folder / name).read_text(encoding="utf-8")
        for name in ("library/sources.cmake", "CMakeLists.txt")
    )
    names = []
    for variable in variables:
        for word in listing.partition(f"set({variable}\n")[2].partition(")")[0].split():
            names += source_names(source, word[2:-1]) if word.startswith("${") else [word]
    return names


def compile_engine(source: Path, library: Path, programs: Collection[str]) -> None:
    """All of libitm.so.1, with libtandem.so in it, from `source`, a copy of src/; the recorder; and
    those of UNIT that are among `programs`.

    ccache, if it is there, keeps the objects; so that it knows them again, names are relative.
    """
    names = source_names(source, "engine_sources", "section_sources")
    flags = [
        "-std=c++20",
        "-O2",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-exceptions",
        "-fno-rtti",
    ]
    flags += ["-fno-threadsafe-statics", "-w", '-DTANDEM_LIBRARY="libitm"']
    objects = []
    compiler = [*(["ccache"] if shutil.which("ccache") else []), "clang++-19"]
    for name in [*names, "fatal.cc"]:
        target = library.with_name(name.replace("/", "-") + ".o")
        command = [
            *compiler,
            *flags,
            "-I",
            ".",
            "-I",
            str(ROOT / "include"),
            "-c",
        ]
        subprocess.run([*command, f"runtime/{name}", "-o", str(target)], check=True, cwd=source)
        objects.append(str(target))
    for part in (OPACITY / "record.cc", OPACITY / "checker.cc"):
        target = library.with_name(part.stem + ".o")
        command = [
            *compiler,
            "-std=c++20",
            "-O2",
            "-w",
            "-I",
            str(source),
            "-I",
            str(OPACITY),
        ]
        command += ["-I", str(ROOT / "include"), "-c", str(part), "-o", str(target)]
        subprocess.run(command, check=True)
    subprocess.run(
        ["clang++-19", "-pthread", *objects, str(library.with_name("record.o")),
         str(library.with_name("checker.o")), "-o", str(library.with_name("opacity"))],
        check=True,
    )  # fmt: skip
    for program in sorted(UNIT.keys() & {PARTS.get(name, [name])[0] for name in programs}):
        compile_unit(program, source, library, objects)
    script = source / "runtime/abi/libitm.map"
    subprocess.run(
        ["clang++-19", "-shared", "-nostdlib++", "-fuse-ld=lld", "-Wl,-soname,libitm.so.1",
         f"-Wl,--version-script={script}", *objects, "-o", str(library)],
        check=True,
    )  # fmt: skip


def compile_unit(program: str, source: Path, library: Path, objects: list[str]) -> None:
    parts = [str(source / "runtime" / name) for name in UNIT[program]]
    subprocess.run(
        ["clang++-19", "-std=c++20", "-O2", "-w", "-pthread", "-fno-threadsafe-statics",
         "-I", str(source), "-I", str(ROOT / "include"), *parts, *objects,
         "-lgmock_main", "-lgmock", "-lgtest", "-o", str(library.with_name(program))],
        check=True,
    )  # fmt: skip


def compile_programs(folder: Path) -> dict[str, list[str]]:
    """Command lines by name."""
    base = ["-O2", "-w", "-fgnu-tm", "-pthread"]
    commands: dict[str, list[str]] = {}
    for name in (
        "opaque",
        "privatise",
        "nesting",
        "types",
        "process",
        "frames",
        "handlers",
        "succession",
    ):
        subprocess.run(
            [
                "gcc",
                *base,
                str(PROGRAMS / f"{name}.c"),
                "-ldl",
                "-o",
                str(folder / name),
            ],
            check=True,
        )
        commands[name] = [str(folder / name)]
    plugin = folder / "plugin.so"
    subprocess.run(
        [
            "gcc",
            *base,
            "-shared",
            "-fPIC",
            str(PROGRAMS / "plugin.c"),
            "-o",
            str(plugin),
        ],
        check=True,
    )
    commands["process"].append(str(plugin))
    commands["opaque"].append("60000")
    emulator = sorted(str(part) for part in (ROOT / "tests/runtime/rtm_emulator").glob("*.cc"))
    subprocess.run(
        ["clang++-19", "-std=c++20", "-O2", "-w", "-fPIC", "-shared", "-fvisibility=hidden",
         "-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-fno-threadsafe-statics",
         "-nostdlib++", "-Wl,-z,now", *emulator, "-o", str(folder / "emulator.so")],
        check=True,
    )  # fmt: skip
    micro = ROOT / "workloads/micro"
    sources = [str(micro / "micro.c"), str(micro / "structures.c")]
    subprocess.run(
        ["gcc", *base, "-DMICRO_GNU_TM", *sources, "-o", str(folder / "micro")],
        check=True,
    )
    commands["micro"] = [str(folder / "micro"), "tree-50", "4", "200"]
    commands["opacity"] = [str(folder / "opacity"), "{seed}", str(HISTORIES)]
    for program in UNIT:
        commands[program] = [str(folder / program)]
    for part, (program, *arguments) in PARTS.items():
        commands[part] = [str(folder / program), *arguments]
    return commands


def finding(command: list[str], folder: Path, algorithm: str, attempt: int = 1) -> str | None:
    """What a run found; None if all was well."""
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(folder),
        "TANDEM_ALGORITHM": algorithm,
    }
    if algorithm == "htm" and not has_rtm():
        environment |= {
            "LD_PRELOAD": str(folder / "emulator.so"),
            "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
            "RTM_EMULATOR_SEED": str(attempt),
            "RTM_EMULATOR_ABORTS": "40",
        }
        command = [command[0], *SHORT.get(Path(command[0]).name, command[1:])]
    words = [word.format(seed=attempt * HISTORIES) for word in command]
    try:
        done = subprocess.run(
            words, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    return None if done.returncode == 0 else f"status {done.returncode}"


def copy_source(folder: Path) -> Path:
    source = folder / "src"
    shutil.rmtree(source, ignore_errors=True)
    for name in ("runtime", "contention", "base"):
        shutil.copytree(ROOT / "src" / name, source / name)
    return source


def hunt(name: str, bug: Bug, folder: Path, commands: dict[str, list[str]], by: str | None) -> bool:
    source = copy_source(folder)
    file = source / "runtime" / bug.file
    text = file.read_text(encoding="utf-8")
    if text.count(bug.old) != 1:
        print(f"{name}: {bug.file} does not have the text that the bug replaces, once")
        return False
    file.write_text(text.replace(bug.old, bug.new), encoding="utf-8")
    compile_engine(source, folder / "libitm.so.1", [by] if by else bug.programs)
    for attempt in range(1, ATTEMPTS + 1):
        for program in [by] if by else bug.programs:
            found = finding(commands[program], folder, bug.algorithm, attempt)
            if found is not None:
                print(f"{name}: found by {program}, run {attempt} ({found})", flush=True)
                return True
    print(f"{name}: NOT FOUND in {ATTEMPTS} runs: {bug.what}", flush=True)
    return False


def engine_as_it_is(folder: Path, commands: dict[str, list[str]], bugs: list[Bug]) -> bool:
    """Every program that has no other engine in it, under every algorithm; and each that is to find
    a bug, where it is to find it."""
    asked = {(program, bug.algorithm) for bug in bugs for program in bug.programs}
    asked |= {
        (program, algorithm)
        for program in commands.keys() - UNIT.keys() - PARTS.keys()
        for algorithm in ("eager", "lazy", "norec", "two-phase", "htm")
    }
    compile_engine(copy_source(folder), folder / "libitm.so.1", [program for program, _ in asked])
    well = True
    for program, algorithm in sorted(asked):
        found = finding(commands[program], folder, algorithm)
        if found is not None:
            print(f"the engine as it is: {program} under {algorithm}: {found}")
            well = False
    return well


def main() -> int:
    words = sys.argv[1:]
    by = None
    if words[:1] == ["--by"]:
        by, words = words[1], words[2:]
    names = words or list(BUGS)
    for name in names:
        if name not in BUGS:
            print(
                f"mutants: there is no bug '{name}'; there are {', '.join(BUGS)}",
                file=sys.stderr,
            )
            return 2
    with tempfile.TemporaryDirectory(prefix="tandem-mutants-") as place:
        folder = Path(place)
        commands = compile_programs(folder)
        well = engine_as_it_is(folder, commands, [BUGS[name] for name in names])
        found = [hunt(name, BUGS[name], folder, commands, by) for name in names]
    print(f"{sum(found)} of {len(found)} bugs found")
    return 0 if well and all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
