# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program that runs with more rights than its caller obeys no variable of the environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, LIBRARIES, NOBODY, give_rights, run_as

SOURCE = Path(__file__).parent / "privileged.c"
RIGHTS = ("setuid", "setgid", "capability")
LINK = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-Wl,--no-as-needed"]
TANDEM_CC = [str(BUILD / "bin/tandem-cc"), "-O1"]
BUILDS = {
    "hybrid": [*TANDEM_CC, "-ftandem-enforce=hybrid"],
    "stm": [*TANDEM_CC, "-ftandem-enforce=stm"],
    "locks": [*TANDEM_CC, "-ftandem-enforce=locks"],
    "checked": [*TANDEM_CC, "-ftandem-check-effects=1"],
    "gnu-tm": ["gcc", "-O1", "-DGNU_TM", "-fgnu-tm", *LINK, "-ltandem_tm", "-ltandem"],
    "lock-profile": [*TANDEM_CC, *LINK, "-ltandem_locks"],
}
# What each build obeys elsewhere: a value that is none ends the program, a file is written.
WRONG = {
    "hybrid": {"TANDEM_HYBRID": "wrong"},
    "stm": {"TANDEM_ALGORITHM": "wrong"},
    "locks": {},
    "checked": {},
    "gnu-tm": {"ITM_DEFAULT_METHOD": "wrong"},
    "lock-profile": {},
}
WRITES = {"hybrid", "stm", "gnu-tm", "checked", "lock-profile"}
FILES = ("TANDEM_PROFILE", "TANDEM_OBSERVE", "TANDEM_LOCK_PROFILE")
VARIABLES = (
    "TANDEM_ALGORITHM",
    "TANDEM_HARDWARE",
    "TANDEM_POLICY",
    "TANDEM_BACKOFF",
    "TANDEM_HOURGLASS",
    "TANDEM_SERIALISE_AFTER",
    "TANDEM_SERIAL_LOCK",
    "TANDEM_HYBRID",
    "ITM_DEFAULT_METHOD",
)


@pytest.fixture(scope="module", params=BUILDS)
def built(request: pytest.FixtureRequest, open_folder: Path) -> tuple[str, Path]:
    kind: str = request.param
    program = open_folder / kind
    command = [*BUILDS[kind], "-pthread", str(SOURCE), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return kind, program


def files_of(folder: Path) -> dict[str, str]:
    return {name: str(folder / name) for name in FILES}


@pytest.mark.parametrize("rights", RIGHTS)
def test_the_environment_is_not_obeyed(
    built: tuple[str, Path], open_folder: Path, tmp_path: Path, rights: str
) -> None:
    kind, program = built
    privileged = open_folder / f"{kind}-{rights}"
    shutil.copy(program, privileged)
    give_rights(privileged, rights)
    (open_folder / "victim").mkdir(exist_ok=True)
    victims = files_of(open_folder / "victim")
    for path in victims.values():
        Path(path).write_text("of root")
    environment = victims | dict.fromkeys(VARIABLES, "wrong")
    done = run_as(NOBODY, privileged, environment)
    # The variables are not handed on to programs that it starts either, but by what links no
    # runtime at all.
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "57 secure 1\n")
    for path in victims.values():
        assert Path(path).read_text() == "of root"


def test_elsewhere_it_is(built: tuple[str, Path], open_folder: Path) -> None:
    kind, program = built
    folder = open_folder / f"{kind}-files"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    done = run_as(NOBODY, program, files_of(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("57 secure 0 TANDEM_")
    assert bool(list(folder.iterdir())) == (kind in WRITES)
    for name, value in WRONG[kind].items():
        done = run_as(NOBODY, program, {name: value})
        assert done.returncode == 2
        assert name in done.stderr
