# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the runtime does to a program's calls before main, beside what GCC's library leaves alone.
The search itself is compared with the dynamic linker's by src/runtime/linkage/linkage_test.cc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import LIBRARY, ROOT, GnuTm

PROGRAMS = ROOT / "tests/runtime/linkage"
ALGORITHMS = ("auto", "htm", "norec", "serial")
SHARED = ("-shared", "-fPIC", "-Wl,-z,lazy")


def library(gnu_tm: GnuTm, function: str, number: int, *options: str) -> Path:
    defines = [f"-DFUNCTION={function}", f"-DNUMBER={number}", f"-DNUMBER_OF={function}_number"]
    name = f"{function}{''.join(options)}.so".replace("/", "_")
    return gnu_tm.compile(name, [PROGRAMS / "library.c"], [*SHARED, *defines, *options])


def program(gnu_tm: GnuTm, name: str, libraries: list[Path], *options: str) -> Path:
    return gnu_tm.compile(name, [PROGRAMS / "program.c", *libraries], ["-Wl,-z,lazy", *options])


def same_as_stock(gnu_tm: GnuTm, linked: Path, algorithm: str, expected: str) -> None:
    assert gnu_tm.run(linked).output == expected
    outcome = gnu_tm.run(linked, algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("style", ["gnu", "sysv"])
@pytest.mark.parametrize("address", ["0", "0x7fff00000000"])
def test_libraries_wherever_they_are_loaded(
    gnu_tm: GnuTm, address: str, style: str, algorithm: str
) -> None:
    """Also below the address that they were linked for: the difference is negative then."""
    options = (f"-Wl,-Ttext-segment={address}", f"-Wl,--hash-style={style}")
    libraries = [library(gnu_tm, "first", 1, *options), library(gnu_tm, "second", 2, *options)]
    linked = program(gnu_tm, f"loaded-{address}-{style}", libraries)
    same_as_stock(gnu_tm, linked, algorithm, "1 3\n")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_functions_that_a_library_chooses(gnu_tm: GnuTm, algorithm: str) -> None:
    """When they are called, not before the library is initialised."""
    chosen = gnu_tm.compile("chosen.so", [PROGRAMS / "chosen.c"], SHARED)
    same_as_stock(gnu_tm, program(gnu_tm, "chosen", [chosen]), algorithm, "1 3\n")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("linked_in", [False, True])
def test_auditors_see_the_calls(gnu_tm: GnuTm, linked_in: bool, algorithm: str) -> None:
    auditor = gnu_tm.compile("auditor.so", [PROGRAMS / "auditor.c"], SHARED)
    libraries = [library(gnu_tm, "first", 1), library(gnu_tm, "second", 2)]
    options = [f"-Wl,--audit,{auditor}"] if linked_in else []
    linked = program(gnu_tm, f"audited{linked_in}", libraries, *options)
    environment = {} if linked_in else {"LD_AUDIT": str(auditor)}
    outcome = gnu_tm.run(linked, algorithm=algorithm, environment=environment, emulates=False)
    lines = sorted(outcome.output.split("\n"))
    # A transaction that hardware gives up calls once more.
    assert outcome.status == 0
    assert lines[:2] == ["", "1 3"]
    assert lines.count("second") >= 1
    assert lines.count("first") >= 2


WAYS = {"pie": (), "fixed": ("-fno-pic", "-no-pie"), "eager": ("-Wl,-z,now",)}


@pytest.mark.parametrize("algorithm", ["norec", "eager", "lazy"])
@pytest.mark.parametrize("preloaded", ["nothing", "memory", "chosen_length"])
@pytest.mark.parametrize("how", ["alone", "threads", "fork", "plugin"])
@pytest.mark.parametrize("way", WAYS)
def test_first_transactions(
    gnu_tm: GnuTm, way: str, how: str, preloaded: str, algorithm: str
) -> None:
    options = ["-Wl,-z,lazy", "-rdynamic", "-ldl", *WAYS[way]]
    linked = gnu_tm.compile(f"first-{way}", [PROGRAMS / "first.c"], options)
    plugin = gnu_tm.compile("first-plugin.so", [PROGRAMS / "first_plugin.c"], SHARED)
    environment = {}
    if preloaded != "nothing":
        replacement = gnu_tm.compile(
            f"{preloaded}.so", [PROGRAMS / f"{preloaded}.c"], [*SHARED, "-fno-builtin"]
        )
        environment["LD_PRELOAD"] = str(replacement)
    outcome = gnu_tm.run(
        linked,
        how,
        *([str(plugin)] if how == "plugin" else []),
        algorithm=algorithm,
        environment=environment,
    )
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("algorithm", ["norec", "eager", "lazy"])
def test_first_transaction_of_a_name_space(gnu_tm: GnuTm, algorithm: str) -> None:
    """The runtime is loaded into one that has no program."""
    options = [*SHARED, "-rdynamic", "-ldl"]
    plugin = gnu_tm.compile("first-library.so", [PROGRAMS / "first.c"], options)
    linked = gnu_tm.compile("first-pie", [PROGRAMS / "first.c"], ["-rdynamic", "-ldl"])
    outcome = gnu_tm.run(linked, "namespace", str(plugin), algorithm=algorithm)
    assert outcome.status == 0, outcome.output


# Data and weak symbols, and functions that transactions call again and again. Each costs every
# process a thousand instructions before main.
MOST_LOOKED_UP = {"libitm.so.1": 20, "libtandem.so": 12}


@pytest.mark.parametrize("library", MOST_LOOKED_UP)
def test_what_is_looked_up_when_a_process_starts(library: str) -> None:
    path = LIBRARY / library
    entries = subprocess.run(
        ["readelf", "--relocs", "--wide", path], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    # A line with a symbol: its place, its kind by number and by name, the symbol's value and name.
    fields = [line.split() for line in entries if "R_X86_64_" in line]
    names = [words[4] for words in fields if len(words) > 4 and words[2] != "R_X86_64_JUMP_SLOT"]
    assert 0 < len(names) <= MOST_LOOKED_UP[library], names
    flags = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    assert "NOW" not in flags.stdout
