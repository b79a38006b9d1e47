# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts bugs into colours and guarded transactions, and shows that their own tests find them.

    tests/runtime/colour_mutants.py [NAME...]

As mutants.py does, whose parts it uses; the finders are runtime_colours_test and
runtime_guarded_test. Exit status 1 where a bug is not found, or something else is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mutants import ROOT, copy_source, finding, source_names

ATTEMPTS = 6
TESTS = {
    "colours": (
        "irrevocable/colours_test.cc",
        ("section_sources",),
        ("memory/pages.cc",),
    ),
    "guarded": (
        "transaction/guarded_test.cc",
        ("engine_sources", "section_sources"),
        ("transaction/guarded_nesting_test.cc",),
    ),
}


@dataclass(frozen=True)
class Bug:
    """`old`, which must occur once in `file` below src/runtime/, becomes `new`."""

    what: str
    file: str
    old: str
    new: str
    test: str = "guarded"
    algorithm: str = "norec"


COLOURS = "irrevocable/colours.cc"
GUARDED = "transaction/guarded.cc"
BUGS = {
    "no-scan": Bug(
        "who takes a colour does not wait for those that share it",
        COLOURS,
        "  while (plan.scans && !wait_for_marks(plan));",
        "  while (false && wait_for_marks(plan));",
    ),
    "no-giving-way": Bug(
        "who holds colours waits for a serial transaction that waits for them",
        COLOURS,
        "enters_with_mark.load() == identity + 1;",
        "enters_with_mark.load() == kNoMark;",
    ),
    "gives-way-too-long": Bug(
        "who gave way waits for the mark, while its thread shares the colour again and again",
        COLOURS,
        "wait_for_others([&] { return !waits_with_mark(i); });",
        "wait_for_others([&] { return slot.load() != seen; });",
    ),
    "own-colours": Bug(
        "a transaction waits for colours that its own thread holds",
        GUARDED,
        " || !_TANDEM_colours_others_hold(&plan)",
        "",
    ),
    "waits-unannounced": Bug(
        "a serial transaction waits with its marks for colours to share, and does not say so",
        GUARDED,
        "  const colours::Entering entering(thread.identity);\n",
        "",
    ),
    "asleep-with-colours": Bug(
        "a serial transaction does not wake who holds the colours that it waits for",
        "irrevocable/colours.h",
        "    if (_TANDEM_colours_shared.sleepers.load() != 0)\n      _TANDEM_colours_wake();",
        "",
    ),
    "no-look": Bug(
        "a transaction that shares does not look at the words",
        "transaction/steps.h",
        "!(kGuarded && guarded::taken(thread))",
        "true",
    ),
    "no-withdrawal": Bug(
        "who withdraws leaves its mark",
        "transaction/steps.h",
        "      guarded::clear_marks(thread);\n    const profile::Waiting",
        "      (void)0;\n    const profile::Waiting",
    ),
    "early-end": Bug(
        "the marks are cleared before the commit writes back",
        "transaction/transaction.cc",
        "  thread.depth = 1;\n  if (!is_profiled(thread))",
        "  if (!thread.coloured) guarded::clear_marks(thread);\n"
        "  thread.depth = 1;\n  if (!is_profiled(thread))",
    ),
    "leaked-marks": Bug(
        "a cancelled transaction keeps its marks",
        "transaction/steps.cc",
        "  if (thread.guard_count != 0)\n    guarded::clear_marks(thread);",
        "",
    ),
    "any-order": Bug(
        "colours are acquired in the order of the section's address",
        COLOURS,
        "    if (!try_hold(*plan.colours[i]))\n      wait_to_hold(*plan.colours[i]);",
        "    if (const bool down = reinterpret_cast<std::uintptr_t>(&section) / 64 % 2 != 0;\n"
        "        !try_hold(*plan.colours[down ? plan.colour_count - 1 - i : i]))\n"
        "      wait_to_hold(*plan.colours[down ? plan.colour_count - 1 - i : i]);",
        "colours",
    ),
    "early-leave": Bug(
        "the first leave releases",
        COLOURS,
        "  if (depth() > 1) {",
        "  if (depth() > 2) {",
        "colours",
    ),
    "lost-wake": Bug(
        "a release wakes nobody",
        COLOURS,
        "std::memory_order_acq_rel) == kHeldWithWaiters",
        "std::memory_order_acq_rel) > kHeldWithWaiters",
        "colours",
    ),
    "wakes-one": Bug(
        "a release wakes one of those that wait to share",
        COLOURS,
        "    sync::wake_all(colour.word); //",
        "    sync::wake_one(colour.word); //",
    ),
    "lost-clearing": Bug(
        "who clears a mark wakes nobody",
        COLOURS,
        "  sync::wake_all(_TANDEM_colours_shared.cleared);",
        "",
    ),
    "upgrade-with-marks": Bug(
        "a section takes its colours with its mark still there",
        GUARDED,
        "void restart_exclusively(Thread &thread) noexcept {\n  transaction::roll_back(thread);",
        "void restart_exclusively(Thread &thread) noexcept {\n  transaction::roll_back(thread);\n"
        "  set_marks(thread);",
    ),
    "process-beside-gcc": Bug(
        "a colour of the whole process does not exclude gcc's transactions",
        COLOURS,
        "  while (begins && plan.process && !present.try_serial()) {",
        "  while (false && begins) {",
    ),
    "serial-without-marks": Bug(
        "a hybrid section that is serial has no marks",
        GUARDED,
        "  serial::wait_for_all(&thread);\n}",
        "  clear_marks(thread);\n  serial::wait_for_all(&thread);\n}",
    ),
    "no-adoption": Bug(
        "a nested section does not share its colours",
        GUARDED,
        "  if (thread.coloured)\n    return; // its",
        "  if (thread.depth != 0)\n    return; // its",
    ),
    "gcc-inside": Bug(
        "gcc's transactions inside an exclusive section exclude nobody",
        "transaction/begin.cc",
        "    if (thread.coloured) [[unlikely]]",
        "    if (thread.coloured && thread.depth == 0)",
    ),
    "process-by-output": Bug(
        "an output has the process's colours for itself",
        "irrevocable/plans.cc",
        "process ? process_colour(colour) : make_colour(colour)",
        "(process && count > 9) ? process_colour(colour) : make_colour(colour)",
        "colours",
    ),
    "held-in-child": Bug(
        "a child has the colours of threads that it does not have",
        COLOURS,
        "    if (!is_held(*all.list[i]))",
        "    if (all.list[i] == nullptr && !is_held(*all.list[i]))",
        "colours",
    ),
    "fork-at-once": Bug(
        "fork does not wait for sections",
        COLOURS,
        "      lock(*acquired_for_fork.list[i]);",
        "      (void)lock;",
        "colours",
    ),
}


def compile_test(source: Path, test: str) -> Path:
    """ccache keeps the objects of what a bug does not touch, if it is there."""
    file, variables, more = TESTS[test]
    compiler = [*(["ccache"] if shutil.which("ccache") else []), "clang++-19"]
    flags = [
        "-std=c++20",
        "-O1",
        "-w",
        "-pthread",
        "-I",
        str(source),
        "-I",
        str(ROOT / "include"),
    ]
    objects = []
    for name in [*source_names(source, *variables), *more, "fatal.cc", file]:
        target = source.parent / (name.replace("/", "-") + ".o")
        subprocess.run(
            [
                *compiler,
                *flags,
                "-c",
                str(source / "runtime" / name),
                "-o",
                str(target),
            ],
            check=True,
        )
        objects.append(str(target))
    program = source.parent / test
    libraries = ["-lgmock_main", "-lgmock", "-lgtest"]
    subprocess.run(["clang++-19", "-pthread", *objects, *libraries, "-o", str(program)], check=True)
    return program


def hunt(name: str, bug: Bug, folder: Path) -> bool:
    source = copy_source(folder)
    file = source / "runtime" / bug.file
    text = file.read_text(encoding="utf-8")
    if text.count(bug.old) != 1:
        print(f"{name}: {bug.file} does not have the text that the bug replaces, once")
        return False
    file.write_text(text.replace(bug.old, bug.new), encoding="utf-8")
    program = compile_test(source, bug.test)
    for attempt in range(1, ATTEMPTS + 1):
        found = finding([str(program)], folder, bug.algorithm, attempt)
        if found is not None:
            print(f"{name}: found, run {attempt} ({found})", flush=True)
            return True
    print(f"{name}: NOT FOUND in {ATTEMPTS} runs: {bug.what}", flush=True)
    return False


def main() -> int:
    names = sys.argv[1:] or list(BUGS)
    for name in names:
        if name not in BUGS:
            print(
                f"colour_mutants: there is no bug '{name}'; there are {', '.join(BUGS)}",
                file=sys.stderr,
            )
            return 2
    with tempfile.TemporaryDirectory(prefix="tandem-colour-mutants-") as place:
        folder = Path(place)
        source = copy_source(folder)
        well = all(
            finding([str(compile_test(source, test))], folder, "norec") is None for test in TESTS
        )
        if not well:
            print("the tests fail without a bug")
        found = [hunt(name, BUGS[name], folder) for name in names]
    print(f"{sum(found)} of {len(found)} bugs found")
    return 0 if well and all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
