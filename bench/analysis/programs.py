#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real and generated programs for the analysis: compiled once, then only linked.

    programs.py prepare BUILD WORK PROGRAM...
    programs.py measure BUILD WORK PROGRAM WAY

PROGRAM is memcached, redis or sqlite3, from Debian's source package with nothing changed, or a
number: of a generated program's IR instructions (generate.py). WAY is clang-lto, the link by clang
19 with full LTO, or insensitive or sensitive, the link by tandem-cc with a report and nothing
enforced. `measure` prints what it took as JSON: of clang the whole link, of tandem-cc the analysis
as the report has it.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WAYS = ("clang-lto", "insensitive", "sensitive")


class BenchError(Exception):
    """What a person must know, in one line."""


@dataclass(frozen=True)
class Program:
    """A Debian source package and how one of its programs is made. In the commands {cc}, {ar} and
    {ranlib} are the compiler's; `link` needs what `compile` made, and makes `output`.
    """

    compile: tuple[tuple[str, ...], ...]
    link: tuple[str, ...]
    output: str


REDIS = (
    *("make", "MALLOC=libc", "OPTIMIZATION=-O2", "CC={cc}", "AR={ar}", "RANLIB={ranlib}"),
    # Debian's package takes the library of the system.
    *("REDIS_CFLAGS=-I/usr/include/liblzf", "REDIS_LDFLAGS=-llzf"),
)
# The options of debian/rules that add code.
SQLITE = (
    "THREADSAFE=1",
    "ENABLE_FTS3",
    "ENABLE_FTS4",
    "ENABLE_FTS5",
    "ENABLE_RTREE",
    "ENABLE_SESSION",
    "ENABLE_PREUPDATE_HOOK",
    "ENABLE_DBSTAT_VTAB",
    "ENABLE_COLUMN_METADATA",
    "ENABLE_UNLOCK_NOTIFY",
)
PROGRAMS = {
    "memcached": Program(
        (
            ("./configure", "CC={cc}", "AR={ar}", "RANLIB={ranlib}"),
            ("make", "-j2", "memcached"),
        ),
        ("make", "memcached"),
        "memcached",
    ),
    "redis": Program(
        ((*REDIS, "-j2", "-C", "src", "redis-server"),),
        (*REDIS, "-C", "src", "redis-server"),
        "src/redis-server",
    ),
    "sqlite3": Program(
        (
            ("./configure", "--disable-tcl"),
            ("make", "sqlite3.c", "shell.c"),
            ("{cc}", "-O2", "-g", *(f"-DSQLITE_{x}" for x in SQLITE), "-c", "sqlite3.c"),
            ("{cc}", "-O2", "-g", "-c", "shell.c"),
        ),
        (
            "{cc}",
            "-O2",
            "-g",
            "shell.o",
            "sqlite3.o",
            "-pthread",
            "-lm",
            "-ldl",
            "-o",
            "sqlite3-shell",
        ),
        "sqlite3-shell",
    ),
}
# Of a generated program only the analysis counts: no code is made from what it leaves.
GENERATED = Program(
    (("{cc}", "-std=gnu17", "-O1", "-g", "-w", "-c", "program.c", "-o", "program.o"),),
    ("{cc}", "-g", "-pthread", "-Wl,--lto-O0", "-Wl,--lto-emit-llvm", "program.o", "-o", "program"),
    "program",
)


def tools(build: Path, way: str) -> dict[str, str]:
    if way == "clang-lto":
        names = {"cc": "clang-19 -flto -fuse-ld=lld -Wno-unused-command-line-argument"}
        return names | {"ar": "llvm-ar-19", "ranlib": "llvm-ranlib-19"}
    return {name: str(build / "bin" / f"tandem-{name}") for name in ("cc", "ar", "ranlib")}


def environment(way: str, report: str) -> dict[str, str]:
    changing = ("TANDEM_", "MAKE", "MFLAGS", "CFLAGS", "LDFLAGS", "CPPFLAGS")
    own = {name: value for name, value in os.environ.items() if not name.startswith(changing)}
    if way != "clang-lto":
        own |= {"TANDEM_ENFORCE": "none", "TANDEM_REPORT": report, "TANDEM_POINTS_TO": way}
    return own


def run(
    command: tuple[str, ...], folder: Path, names: Mapping[str, str], env: dict[str, str], log: Path
) -> None:
    words: list[str] = []
    for word in command:
        # A compiler's name that has options is several words where it is the command.
        words += names["cc"].split() if word == "{cc}" else [word.format_map(names)]
    with log.open("a", encoding="utf-8") as file:
        print("+", *words, file=file, flush=True)
        done = subprocess.run(words, cwd=folder, env=env, stdout=file, stderr=file, check=False)
    if done.returncode != 0:
        raise BenchError(f"{words[0]} failed in {folder}; see {log}")


def describe(name: str) -> Program:
    if name.isascii() and name.isdigit():
        return GENERATED
    if name not in PROGRAMS:
        raise BenchError(
            f"there is no program '{name}'; use {', '.join(PROGRAMS)} or a number of instructions"
        )
    return PROGRAMS[name]


def tree_of(work: Path, name: str, way: str) -> Path:
    """Both modes of ours link the same objects."""
    return work / name / ("clang" if way == "clang-lto" else "tandem")


def prepare(build: Path, work: Path, name: str) -> None:
    """Fetches, and compiles by clang and by tandem-cc; links once."""
    program = describe(name)
    for way in WAYS[:2]:
        tree = tree_of(work, name, way)
        log = work / name / f"{way}.log"
        shutil.rmtree(tree, ignore_errors=True)
        tree.parent.mkdir(parents=True, exist_ok=True)
        if program is GENERATED:
            tree.mkdir()
            source = subprocess.run(
                [sys.executable, str(HERE / "generate.py"), name], capture_output=True, check=True
            )
            (tree / "program.c").write_bytes(source.stdout)
        else:
            source_tree = work / name / "source"
            fetch = [str(ROOT / "scripts" / "fetch-source"), name, str(source_tree)]
            if subprocess.run(fetch, stdout=subprocess.DEVNULL, check=False).returncode != 0:
                raise BenchError(f"the source package {name} could not be fetched; see above")
            shutil.copytree(source_tree, tree, symlinks=True)
        # A report's name that no link writes two times: configure links, too.
        env = environment(way, str(tree / "prepare-%o.json"))
        for command in program.compile:
            run(command, tree, tools(build, way), env, log)


def measure(build: Path, work: Path, name: str, way: str) -> dict[str, float]:
    if way not in WAYS:
        raise BenchError(f"'{way}' is not a way to link; use {', '.join(WAYS)}")
    program = describe(name)
    tree = tree_of(work, name, way)
    report = work / name / f"{way}.json"
    (tree / program.output).unlink(missing_ok=True)
    report.unlink(missing_ok=True)
    begin = time.monotonic()
    run(
        program.link,
        tree,
        tools(build, way),
        environment(way, str(report)),
        work / name / f"{way}.log",
    )
    seconds = time.monotonic() - begin
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    measured = {
        "link_cpu": usage.ru_utime + usage.ru_stime,
        "seconds": seconds,
        "peak_mib": usage.ru_maxrss / 1024,
        "instructions": 0,
        "edges": 0,
    }
    if way != "clang-lto":
        document = json.loads(report.read_text(encoding="utf-8"))
        analysis = document["analysis"]
        measured |= {key: analysis[key] for key in ("seconds", "peak_mib", "instructions")}
        pairs = {
            frozenset((section["name"], conflict["with"]))
            for section in document["sections"]
            for conflict in section["conflicts"]
        }
        measured["edges"] = len(pairs)
    return measured


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["prepare", build, work, *names] if names:
                for name in names:
                    print(f"preparing {name}", file=sys.stderr, flush=True)
                    prepare(Path(build).resolve(), Path(work).resolve(), name)
            case ["measure", build, work, name, way]:
                print(json.dumps(measure(Path(build).resolve(), Path(work).resolve(), name, way)))
            case _:
                raise BenchError(
                    "give prepare BUILD WORK PROGRAM..., or measure BUILD WORK PROGRAM WAY"
                )
    except BenchError as error:
        print(f"programs.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
