# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""include/tandem/transaction.h and .hpp, with plain compilers, under every algorithm."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from conftest import ALGORITHMS, LIBRARY, ROOT, GnuTm

API = Path(__file__).parent / "api"
# First arguments: under the emulator of hardware transactions one takes a few hundred microseconds.
SHORT = {"htm": ["short"]}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def build(gnu_tm: GnuTm, compiler: str, source: str, *options: str) -> Path:
    program = gnu_tm.folder / f"api-{compiler}-{source}{''.join(options)}"
    if not program.exists():
        command = [
            compiler,
            "-O2",
            *WARNINGS,
            "-pthread",
            *options,
            f"-I{ROOT / 'include'}",
        ]
        command += [
            str(API / source),
            f"-L{LIBRARY}",
            "-ltandem_tm",
            "-o",
            str(program),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_cxx(gnu_tm: GnuTm, compiler: str, algorithm: str) -> None:
    program = build(gnu_tm, compiler, "transactions.cc", "-std=c++17")
    outcome = gnu_tm.run(program, *SHORT.get(algorithm, []), algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", ["-std=gnu11"]),
        ("clang-19", ["-std=c11"]),
        ("gcc", ["-std=gnu11", "-fgnu-tm"]),
    ],
)
def test_c(gnu_tm: GnuTm, compiler: str, options: list[str], algorithm: str) -> None:
    program = build(gnu_tm, compiler, "transactions.c", *options)
    rounds = ["200"] if algorithm == "htm" else []
    outcome = gnu_tm.run(program, *rounds, algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "")


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("cancel", "tandem_cancel is called outside a transaction"),
        ("retry", "a transaction waits for a change after it became irrevocable"),
        ("on-commit", "tandem_on_commit is called outside a transaction"),
        ("policy", "tandem_run: there is no policy 99"),
        ("choice", "tandem_choose: there is no back-off 99"),
        ("choose", "tandem_choose: inside a transaction"),
        ("closure", "tandem_on_commit: a closure of 70000 bytes; the most is 65536"),
    ],
)
def test_mistakes_end_the_process(gnu_tm: GnuTm, mistake: str, message: str) -> None:
    program = build(gnu_tm, "g++", "transactions.cc", "-std=c++17")
    outcome = gnu_tm.run(program, mistake, algorithm="norec")
    assert outcome.status == -6
    assert outcome.output.count("\n") == 1
    assert message in outcome.output


def test_profile_names_the_body(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = build(gnu_tm, "gcc", "transactions.c", "-std=gnu11")
    profile = tmp_path / "profile.json"
    environment = {"TANDEM_PROFILE": str(profile)}
    assert gnu_tm.run(program, algorithm="norec", environment=environment).status == 0
    assert '"name": "move"' in profile.read_text()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_profile_names_what_the_user_wrote(
    gnu_tm: GnuTm, tmp_path: Path, compiler: str, level: str
) -> None:
    program = build(gnu_tm, compiler, "named.cc", "-std=c++17", "-g", level)
    profile = tmp_path / "profile.json"
    environment = {"TANDEM_PROFILE": str(profile)}
    outcome = gnu_tm.run(program, algorithm="norec", environment=environment)
    assert (outcome.status, outcome.output) == (0, "")
    named: Counter[tuple[str, int]] = Counter()
    for section in json.loads(profile.read_text())["sections"]:
        named[Path(section["file"]).name, section["line"]] += section["commits"]
    lines = (API / "named.cc").read_text().splitlines()
    for times, at in enumerate((i for i, x in enumerate(lines, 1) if "// section" in x), 1):
        assert named.pop(("named.cc", at), None) == times, (at, named)
    # Call operators that are templates or virtual: a line of the header, or what is inlined there.
    assert sum(named.values()) == 30
