# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which folder may include which: the direction of the dependencies, enforced.

    dependencies.py [ROOT]    checks src/ and include/ below ROOT; a line per violation, status 1

Only #include lines count: what the linker sees follows from them. Reads no compiler output, so
that it also covers files that no target builds.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PUBLIC = "include"  # the public headers, included as tandem/NAME.h
LLVM = "LLVM"  # headers of llvm, clang and lld


@dataclass(frozen=True)
class Folder:
    """What the files of a folder, and of the folders in it that have no entry, may include."""

    may_include: frozenset[str]


def folder(*names: str) -> Folder:
    return Folder(frozenset(names))


_WITHOUT_LLVM = (
    "base",
    PUBLIC,
    "compiler/options",
    "compiler/catalogue",
    "compiler/report",
)
_ANALYSIS = (*_WITHOUT_LLVM, LLVM)

_HARTS = (
    "base",
    "contention",
    "machine/event",
    "machine/isa",
    "machine/bus",
    "machine/htm",
    "machine/hart",
)
_BOARD = (*_HARTS, "machine/cores", "machine/archive", "machine/devices", "machine/firmware")

# From the foundations upwards. Every folder may include itself; compiler and runtime never meet.
RULES: dict[str, Folder] = {
    PUBLIC: folder(),
    "base": folder(),
    "contention": folder("base"),
    "runtime": folder("base", "contention", PUBLIC),
    "machine": folder("base", "contention", "machine/event", "machine/htm"),
    "machine/event": folder("base"),
    # The core side: no arrow upward, and none to the memory side.
    "machine/isa": folder("base"),
    "machine/bus": folder("base"),
    "machine/mmu": folder("base", "machine/isa", "machine/bus"),
    "machine/htm": folder("base", "contention", "machine/event", "machine/isa", "machine/bus"),
    "machine/hart": folder(
        "base",
        "contention",
        "machine/event",
        "machine/isa",
        "machine/bus",
        "machine/mmu",
        "machine/htm",
    ),
    "machine/cores": folder(*_HARTS),
    # The machine around the harts: what is on the board, who serves its guests, who watches it.
    "machine/archive": folder("base"),
    "machine/devices": folder("base", "machine/archive", "machine/event", "machine/bus"),
    "machine/firmware": folder(*_HARTS, "machine/archive", "machine/devices"),
    "machine/relay": folder(*_HARTS, "machine/archive", "machine/devices"),
    "machine/platform": folder(*_BOARD),
    "machine/proxy": folder(*_BOARD, "machine/platform"),
    "machine/run": folder(*_BOARD, "machine/platform"),
    "machine/debug": folder(*_BOARD, "machine/platform", "machine/run"),
    # Harts on the timed system.
    "machine/timing": folder(*_HARTS, "machine/cores", "machine"),
    "compiler/options": folder("base", PUBLIC),
    "compiler/catalogue": folder("base", PUBLIC),
    "compiler/report": folder("base", PUBLIC, "compiler/options", "compiler/catalogue"),
    "compiler/strict": folder("base", "compiler/report"),
    # Its header needs no LLVM.
    "compiler/internal_error": folder("base", LLVM),
    "compiler/driver": folder(*_WITHOUT_LLVM, "compiler/internal_error"),
    "compiler/attribute": folder(*_ANALYSIS, "compiler/internal_error"),
    "compiler/sections": folder(*_ANALYSIS),
    "compiler/cold": folder(*_ANALYSIS, "compiler/sections"),
    "compiler/points_to": folder(*_ANALYSIS, "compiler/sections"),
    "compiler/sharing": folder(*_ANALYSIS, "compiler/points_to"),
    "compiler/effects": folder(
        *_ANALYSIS,
        "compiler/sections",
        "compiler/cold",
        "compiler/points_to",
        "compiler/sharing",
    ),
    "compiler/conflicts": folder(*_ANALYSIS, "compiler/sections", "compiler/effects"),
    "compiler/findings": folder(
        *_ANALYSIS,
        "compiler/sections",
        "compiler/cold",
        "compiler/points_to",
        "compiler/sharing",
        "compiler/effects",
    ),
    "compiler/observe": folder(
        *_ANALYSIS,
        "compiler/sections",
        "compiler/points_to",
        "compiler/effects",
        "compiler/conflicts",
    ),
    "compiler/convert": folder(
        *_ANALYSIS,
        "compiler/sections",
        "compiler/points_to",
        "compiler/effects",
        "compiler/findings",
    ),
    "compiler/instrument": folder(*_ANALYSIS, "compiler/sections", "compiler/effects"),
    "compiler/enforce": folder(
        *_ANALYSIS,
        "compiler/sections",
        "compiler/effects",
        "compiler/conflicts",
        "compiler/instrument",
    ),
    "compiler/pass": folder(
        *_ANALYSIS,
        "compiler/sections",
        "compiler/convert",
        "compiler/effects",
        "compiler/conflicts",
        "compiler/instrument",
        "compiler/enforce",
        "compiler/findings",
        "compiler/internal_error",
        "compiler/observe",
        "compiler/points_to",
        "compiler/sharing",
        "compiler/strict",
    ),
    "compiler/rewrite": folder(*_ANALYSIS),
    "cli": folder(*_WITHOUT_LLVM, "compiler/driver", "contention", "runtime"),
    "cli/machine": folder(
        *_WITHOUT_LLVM,
        "cli",
        "contention",
        "machine",
        "machine/htm",
        "machine/platform",
        "machine/proxy",
        "machine/relay",
        "machine/run",
        "machine/debug",
        "machine/timing",
    ),
    # The one subcommand that runs the analysis itself.
    "cli/analyze": folder(
        *_ANALYSIS,
        "cli",
        "compiler/convert",
        "compiler/driver",
        "compiler/sections",
        "compiler/effects",
        "compiler/conflicts",
        "compiler/enforce",
        "compiler/strict",
        "compiler/pass",
    ),
    # It analyses sources too, and then writes them anew.
    "cli/rewrite": folder(
        *_ANALYSIS,
        "cli",
        "cli/analyze",
        "compiler/driver",
        "compiler/pass",
        "compiler/rewrite",
    ),
}

# (file below src/, included name): why it may. One that nothing needs is a violation itself.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("compiler/driver/plan.cc", "compiler/convert/file.h"): (
        "reads the conversion's file only; file.h and file.cc are a library of their own, without "
        "LLVM"
    ),
    ("compiler/driver/clang_options_test.cc", "clang/Driver/Options.inc"): (
        "compares the driver's table with clang's own list; the driver itself stays without LLVM"
    ),
}

_SOURCES = {".h", ".hpp", ".c", ".cc", ".cpp", ".inc", ".in"}
_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*([<"])([^>"]+)[>"]',
    re.MULTILINE,
)
_LLVM_PREFIXES = ("llvm/", "llvm-c/", "clang/", "clang-c/", "lld/")


def _room(relative: Path) -> str | None:
    """The longest folder of RULES that holds this path (relative to src/, or include/...)."""
    for parent in relative.parents:
        if parent.as_posix() in RULES:
            return parent.as_posix()
    return None


def _target(root: Path, file: Path, name: str) -> str | None:
    """The room of RULES that an included name leads to, LLVM, or None where it is not ours."""
    if name.startswith(_LLVM_PREFIXES):
        return LLVM
    if name.startswith("tandem/"):
        return PUBLIC
    if (root / "src" / name).exists() or name.split("/")[0] in {r.split("/")[0] for r in RULES}:
        return _room(Path(name)) or f"src/{Path(name).parent.as_posix()}"
    beside = (file.parent / name).resolve()
    if beside.is_file() and beside.is_relative_to((root / "src").resolve()):
        return _room(beside.relative_to((root / "src").resolve()))
    return None


def _files(root: Path) -> Iterator[tuple[Path, str | None]]:
    for top in ("src", "include"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in _SOURCES and path.is_file():
                relative = (
                    path.relative_to(root / "src") if top == "src" else Path(PUBLIC, path.name)
                )
                yield path, _room(relative)


def cycles() -> list[str]:
    """Rooms that may include each other, directly or not: the table itself would be wrong."""
    found = []
    for start, rule in RULES.items():
        seen: set[str] = set()
        todo = list(rule.may_include)
        while todo:
            room = todo.pop()
            if room in seen or room not in RULES:
                continue
            seen.add(room)
            todo.extend(RULES[room].may_include)
        if start in seen:
            found.append(f"{start} may include itself through other folders")
    return found


def violations(root: Path) -> list[str]:
    """One line per violation: file:line: what is wrong."""
    found = []
    unused = {key for key in EXCEPTIONS if (root / "src" / key[0]).exists()}
    for path, room in _files(root):
        place = path.relative_to(root).as_posix()
        if room is None:
            found.append(f"{place}:1: no rule in tests/dependencies/dependencies.py")
            continue
        text = path.read_text(encoding="utf-8")
        for match in _INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            target = _target(root, path, match[2])
            if target is None or target == room or target in RULES[room].may_include:
                continue
            exception = (place.removeprefix("src/"), match[2])
            if exception in EXCEPTIONS:
                unused.discard(exception)
            else:
                found.append(f"{place}:{line}: {room} must not include {target} ({match[2]})")
    found += [
        f"src/{file}:1: no longer includes {name}: drop the exception" for file, name in unused
    ]
    return found


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    found = cycles() + violations(root)
    for line in found:
        print(line)
    count = sum(1 for _ in _files(root))
    if count == 0:
        print(f"{root}: no source files below src/ and include/")
        return 1
    print(f"dependencies: {count} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
