# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts bugs into the runtime's engine, one at a time, and shows that the tests' programs find them.

    tests/runtime/mutants.py [--by PROGRAM] [NAME...]

Default: the engine as it is, then every bug, by all programs that may find it; `--by opacity` asks
only the recorder of histories (tests/runtime/opacity), which knows nothing about the bugs. A bug
that no program finds within ATTEMPTS runs, and a finding in the engine as it is, are failures: exit
status 1. Compiles in a folder of its own; the project's files stay as they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/runtime/gnu_tm"
OPACITY = ROOT / "tests/runtime/opacity"
ATTEMPTS = 40
HISTORIES = 100  # that the recorder makes in one attempt
SECONDS = 30  # a program that takes longer hangs, which is a finding
# Arguments in the emulator of hardware transactions, which takes a few hundred microseconds for
# one.
SHORT = {
    "opaque": ["150"],
    "privatise": ["100"],
    "frames": ["150"],
    "opacity": ["{seed}", "10"],
    "micro": ["tree-50", "4", "200"],
}


@dataclass(frozen=True)
class Bug:
    """`old`, which must occur once in `file` below src/runtime/, becomes `new`."""

    what: str
    file: str
    old: str
    new: str
    algorithm: str
    programs: tuple[str, ...]


QUIESCE = """  if (thread.known_quiesced < time)
    sync::quiesce(time);"""

BUGS = {
    "eager-commit-unvalidated": Bug(
        "eager: a commit does not validate its reads",
        "algorithms/orec.cc",
        """    return false;
  release_all(thread, time);
  thread.reads.truncate(kFirstRead);
  return true;
}

void roll_back_eager""",
        """    (void)0;
  release_all(thread, time);
  thread.reads.truncate(kFirstRead);
  return true;
}

void roll_back_eager""",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "eager-short-commit-unvalidated": Bug(
        "eager: a commit without a wait does not validate its reads",
        "transaction/transaction.cc",
        "    if (time != thread.snapshot + 1)\n      return false;",
        "    if (time == 0)\n      return false;",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "extension-unvalidated": Bug(
        "orecs: the snapshot moves to the present without validation",
        "algorithms/orec.cc",
        "  if (!reads_are_current(thread))\n    return false;\n  thread.snapshot = now;",
        "  thread.snapshot = now;",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "late-timestamp": Bug(
        "orecs: versions one above the snapshot count as old",
        "algorithms/orec.h",
        "  return snapshot << kVersionShift | ((1 << kVersionShift) - 1);",
        "  return (snapshot + 1) << kVersionShift | ((1 << kVersionShift) - 1);",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "orec-read-once": Bug(
        "orecs: a read does not look at the orec again after the data",
        "algorithms/orec.h",
        "  if (orec.load(std::memory_order_relaxed) != word || word > thread->limit ||",
        "  if (word > thread->limit ||",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "lost-undo": Bug(
        "eager: what an aborted transaction wrote stays",
        "transaction/steps.cc",
        "      old.cell.store(old.value);",
        "      (void)old;",
        "eager",
        ("opacity", "nesting", "opaque"),
    ),
    "undo-forwards": Bug(
        "eager: the undo log is played oldest first, so the last value of a place wins",
        "transaction/steps.cc",
        "    const memory::CellValue old = thread.undo.pop();",
        "    static std::size_t at = 0; if (at >= thread.undo.size()) at = 0;\n"
        "    const memory::CellValue old = thread.undo[at++]; "
        "if (at == thread.undo.size()) { thread.undo.truncate(size); at = 0; }",
        "eager",
        ("opacity", "nesting", "types"),
    ),
    "lazy-commit-unvalidated": Bug(
        "lazy: a commit does not validate its reads",
        "algorithms/orec.cc",
        "    return false;\n  thread.writes.write_back();",
        "    (void)0;\n  thread.writes.write_back();",
        "lazy",
        ("opacity", "opaque", "micro"),
    ),
    "lazy-unlocked-write-back": Bug(
        "lazy: readers of a held orec go on",
        "algorithms/orec.cc",
        "    if (word > thread->limit) {\n      if ((word & kHeld) != 0)\n        meet_holder",
        "    if (word > thread->limit && (word & kHeld) == 0) {\n      if ((word & kHeld) != 0)\n"
        "        meet_holder",
        "lazy",
        ("opacity", "opaque", "micro"),
    ),
    "norec-unvalidated": Bug(
        "norec: values that changed are not noticed",
        "algorithms/norec.cc",
        "      if (read.cell.load() != read.value && !is_private(read.cell.address(), &thread)) {",
        "      if (read.cell.load() != read.value && thread.depth == 0) {",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
    "norec-stale-read": Bug(
        "norec: a read does not look at the clock",
        "algorithms/norec.h",
        "    if (sync::global_clock.now.load(std::memory_order_relaxed) != thread->snapshot ||\n"
        "        thread->values.full()) [[unlikely]]",
        "    if (thread->values.full()) [[unlikely]]",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
    "norec-even-too-early": Bug(
        "norec: the clock is even again before the data is written back",
        "algorithms/norec.h",
        "  thread.writes.write_back();\n"
        "  sync::global_clock.now.store(time, std::memory_order_release);",
        "  sync::global_clock.now.store(time, std::memory_order_release);\n"
        "  thread.writes.write_back();",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
    "norec-commit-unvalidated": Bug(
        "norec: a commit takes the clock although others have committed",
        "algorithms/norec.h",
        "  std::uint64_t before = thread.snapshot;\n  time",
        "  std::uint64_t before = sync::global_clock.now.load() & ~std::uint64_t{1};\n  time",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
    "two-phase-unlocked-read": Bug(
        "two-phase: a read goes on where a writer has the lock",
        "algorithms/two_phase.cc",
        "      meet(*thread, orec, word, false, attempts);\n      continue;",
        "      return memory::load(address);",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "two-phase-readers-ignored": Bug(
        "two-phase: a writer does not wait for readers",
        "algorithms/two_phase.cc",
        "    if ((word & ~kWanted & ~own) != 0) {",
        "    if ((word & kHeld) != 0) {",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "two-phase-released-early": Bug(
        "two-phase: a read keeps no lock",
        "algorithms/two_phase.h",
        "    thread->reads.push_unchecked(&orec);\n    return memory::load(address);",
        "    const U value = memory::load(address);\n    orec.clear(thread->limit);\n"
        "    return value;",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "two-phase-readers-forgotten": Bug(
        "two-phase: a reader does not put its bit into the word that others have",
        "algorithms/two_phase.h",
        "!orec.acquire(word, word | thread->limit)) [[unlikely]]",
        "(word != 0 ? false : !orec.acquire(word, thread->limit))) [[unlikely]]",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "no-quiescence": Bug(
        "eager: nobody waits after a commit",
        "sync/quiescence.h",
        "    if (seen != 0 && seen < newest) [[unlikely]]\n      wait_for(i, newest);",
        "    (void)seen;",
        "eager",
        ("opacity", "privatise"),
    ),
    "no-proxy-quiescence": Bug(
        "eager: a read-only transaction does not wait for those before it",
        "transaction/steps.h",
        QUIESCE,
        "  if (time != thread.snapshot) sync::quiesce(time);",
        "eager",
        ("opacity", "privatise"),
    ),
    "norec-frames-written-back": Bug(
        "norec: what a function returns into its caller's frame waits for the commit",
        "algorithms/norec.cc",
        "  if (!in_outer_frame(address, thread))\n    return put(address, value, thread);",
        "  return put(address, value, thread);",
        "norec",
        ("frames",),
    ),
    "norec-frames-unlocked": Bug(
        "norec: a write in place does not make the clock odd",
        "algorithms/norec.cc",
        "  if (!acquire_clock(*thread))\n    transaction::restart",
        "  if (thread->depth == 0)\n    transaction::restart",
        "norec",
        ("frames",),
    ),
    "alone-too-early": Bug(
        "alone: who wants to be alone does not wait for the others",
        "irrevocable/serial.cc",
        "  if (settings.algorithm == Algorithm::serial)\n    return;",
        "  if (settings.algorithm != Algorithm::serial || thread == nullptr)\n    return;",
        "eager",
        ("opacity", "process"),
    ),
    "alone-unseen": Bug(
        "alone: a beginning transaction does not look whether somebody is alone",
        "transaction/steps.h",
        "    if (!serial::taken() && !(kGuarded && guarded::taken(thread))) [[likely]] {",
        "    if (true) {",
        "norec",
        ("opacity", "process"),
    ),
    "hardware-untimed": Bug(
        "htm: a commit beside software does not move the clock",
        "transaction/hardware.cc",
        "    sync::global_clock.now.store(time, std::memory_order_relaxed);",
        "    (void)0;",
        "htm",
        ("opacity",),
    ),
    "hardware-beside-serial": Bug(
        "htm: a hardware transaction runs beside one that is alone",
        "transaction/hardware.cc",
        "  if (serial::taken())\n    hardware::abort<Code::serial>();",
        "  (void)0;",
        "htm",
        ("opacity",),
    ),
    "hardware-unquiesced": Bug(
        "htm: a commit waits for no software that may still read what it took out",
        "transaction/hardware.cc",
        "  if (time != 0)\n    sync::quiesce(time);",
        "  (void)0;",
        "htm",
        ("privatise",),
    ),
    "hardware-cancels-all": Bug(
        "htm: cancelling a nested transaction cancels the outermost one",
        "transaction/hardware.cc",
        "  if (all && (thread.properties & itm::kHasNoAbort) == 0)",
        "  if (all || thread.depth != 0)",
        "htm",
        ("nesting",),
    ),
    "hardware-undo-action": Bug(
        "htm: an undo action is registered in hardware, and undone with it",
        "abi/itm_control.cc",
        "  transaction::leave_hardware(thread); // whose abort would undo this too",
        "",
        "htm",
        ("handlers",),
    ),
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


def compile_engine(source: Path, library: Path) -> None:
    """All of libitm.so.1, with libtandem.so in it, from `source`, a copy of src/.

    ccache keeps the objects if it is there.
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
            str(source),
            "-I",
            str(ROOT / "include"),
            "-c",
        ]
        subprocess.run([*command, str(source / "runtime" / name), "-o", str(target)], check=True)
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
    script = source / "runtime/abi/libitm.map"
    subprocess.run(
        ["clang++-19", "-shared", "-nostdlib++", "-fuse-ld=lld", "-Wl,-soname,libitm.so.1",
         f"-Wl,--version-script={script}", *objects, "-o", str(library)],
        check=True,
    )  # fmt: skip


def compile_programs(folder: Path) -> dict[str, list[str]]:
    """Command lines by name."""
    base = ["-O2", "-w", "-fgnu-tm", "-pthread"]
    commands: dict[str, list[str]] = {}
    for name in ("opaque", "privatise", "nesting", "types", "process", "frames", "handlers"):
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
    emulator = ROOT / "tests/runtime/rtm_emulator/emulator.cc"
    subprocess.run(
        ["clang++-19", "-std=c++20", "-O2", "-w", "-fPIC", "-shared", "-fvisibility=hidden",
         "-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-fno-threadsafe-statics",
         "-nostdlib++", "-Wl,-z,now", str(emulator), "-o", str(folder / "emulator.so")],
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
    return commands


def finding(command: list[str], folder: Path, algorithm: str, attempt: int = 1) -> str | None:
    """What a run found; None if all was well."""
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(folder),
        "TANDEM_ALGORITHM": algorithm,
    }
    if algorithm == "htm":
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
    compile_engine(source, folder / "libitm.so.1")
    for attempt in range(1, ATTEMPTS + 1):
        for program in [by] if by else bug.programs:
            found = finding(commands[program], folder, bug.algorithm, attempt)
            if found is not None:
                print(f"{name}: found by {program}, run {attempt} ({found})", flush=True)
                return True
    print(f"{name}: NOT FOUND in {ATTEMPTS} runs: {bug.what}", flush=True)
    return False


def engine_as_it_is(folder: Path, commands: dict[str, list[str]]) -> bool:
    compile_engine(copy_source(folder), folder / "libitm.so.1")
    well = True
    for program, command in commands.items():
        for algorithm in ("eager", "lazy", "norec", "two-phase", "htm"):
            found = finding(command, folder, algorithm)
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
        well = engine_as_it_is(folder, commands)
        found = [hunt(name, BUGS[name], folder, commands, by) for name in names]
    print(f"{sum(found)} of {len(found)} bugs found")
    return 0 if well and all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
