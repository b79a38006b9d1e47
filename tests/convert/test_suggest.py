# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that `tandem analyze --suggest` writes: programs converted by them are right, and what must
stay real does.
"""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import PROGRAMS, Converter

# Locks of each program: those that become sections, and those that stay real.
EXPECTED: dict[str, tuple[list[str], list[str]]] = {
    "counter": (["stats_lock"], []),
    # A wait for a condition ends its section.
    "gate": (["count_lock", "gate", "log_lock"], []),
    "wait_queue": (["lock"], []),
    "wait_pool": (["pool.lock"], []),
    "trylock": (["slot_locks[]"], []),
    # A field that a wrapper waits with, and one that has a lock's address.
    "own_object": (["*store.totals", "store.mutex"], []),
    "readers": (["count_lock", "table.lock"], []),
    "answers": (
        [
            "answer",
            "cleaned",
            "copied",
            "negative",
            "node.lock",
            "number",
            "tried",
            "truth",
            "written",
        ],
        [],
    ),
    # The C++ library's.
    "cxx_guards": (
        ["(anonymous namespace)::wrong_lock", "Account::mutex_", "Table::mutex_"],
        ["Scale::left_mutex_", "Scale::right_mutex_"],  # a region constructs a std::runtime_error
    ),
    "cxx_queue": (["Queue::mutex_"], []),
    "cxx_pool": (["Pool::mutex_"], []),
    "cxx_unused": (["Counter<std::mutex>::lock_"], ["Counter<Nothing>::lock_"]),
    "cxx_shapes": (
        [
            "(anonymous namespace)::a",
            "(anonymous namespace)::b",
            "(anonymous namespace)::counted",
            "Node::lock",
        ],
        [],
    ),
}


def source_of(name: str) -> Path:
    return PROGRAMS / f"{name}{'.cc' if name.startswith('cxx_') else '.c'}"


def suggest(converter: Converter, name: str) -> Path:
    """The file that is suggested for a program of `programs`."""
    suggested = converter.folder / "suggested.toml"
    command = [
        str(converter.build / "bin" / "tandem"),
        "analyze",
        str(source_of(name)),
        "--suggest",
        str(suggested),
    ]
    standard = "-std=gnu++20" if name.startswith("cxx_") else "-std=gnu17"
    command += ["--", standard, "-I", str(PROGRAMS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return suggested


def locks(file: Path, kind: str) -> list[str]:
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    return [lock for entry in document.get(kind, []) for lock in entry["locks"]]


@pytest.mark.parametrize("name", EXPECTED)
def test_suggested_file_converts_the_program(converter: Converter, name: str) -> None:
    suggested = suggest(converter, name)
    assert (locks(suggested, "section"), locks(suggested, "lock")) == EXPECTED[name]
    for enforce in ("stm", "locks"):
        compiled = converter.compile(
            source_of(name), suggested, "-O2", f"-ftandem-enforce={enforce}"
        )
        assert compiled.status == 0, compiled.errors
        status, printed = converter.run(compiled.program, 4, "norec")
        assert status == 0, printed


def test_profile_needs_a_suggestion(converter: Converter) -> None:
    done = subprocess.run(
        [
            str(converter.build / "bin" / "tandem"),
            "analyze",
            "x.json",
            "--profile",
            "p.json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--profile: is for --suggest" in done.stderr
