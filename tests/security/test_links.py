# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Outputs in a folder where everybody may put something: no link of another user is followed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, LIBRARIES, NOBODY, SECONDS

PRIVILEGED = Path(__file__).parent / "privileged.c"
REPORT = Path(__file__).parents[1] / "cli/data/server.json"
# Each with `{}` where the name of the output goes.
COMMANDS = {
    "analyze": ["bin/tandem", "analyze", str(REPORT), "--json", "{}"],
    "machine": ["bin/tandem", "machine", "list", "--json", "{}"],
    "trace": ["bin/tandem", "machine", "trace", "-w", "locks", "--accesses", "9", "-o", "{}"],
    "experiment": ["bin/tandem", "experiment", "list", "--json", "{}"],
    "compiler": ["bin/tandem-cc", "-w", "-ftandem-report={}", str(PRIVILEGED), "-o", "/dev/null"],
}


@pytest.fixture
def sticky(open_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = open_folder / tmp_path_factory.mktemp("sticky").name
    folder.mkdir()
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o1777)
    (folder / "victim").write_text("of root")
    for name, target in (("evil", "victim"), ("new", "nothing"), ("folder", ".")):
        link = folder / "tmp" / name
        link.symlink_to(Path("..") / target)
        os.lchown(link, NOBODY, NOBODY)
    return folder


def unharmed(folder: Path) -> None:
    assert (folder / "victim").read_text() == "of root"
    assert sorted(x.name for x in folder.iterdir()) == ["tmp", "victim"]
    assert sorted(x.name for x in (folder / "tmp").iterdir()) == ["evil", "folder", "new"]


@pytest.mark.parametrize("name", ["tmp/evil", "tmp/new", "tmp/folder/victim"])
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(sticky: Path, command: str, name: str) -> None:
    words = [x.replace("{}", str(sticky / name)) for x in COMMANDS[command]]
    done = subprocess.run(
        [str(BUILD / words[0]), *words[1:]],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "a link of another user, in a folder where everybody may" in done.stderr
    unharmed(sticky)


def environments(path: Path) -> dict[str, dict[str, str]]:
    return {
        "hybrid": {"TANDEM_PROFILE": str(path)},
        "checked": {"TANDEM_OBSERVE": str(path)},
        "locks": {
            "TANDEM_LOCK_PROFILE": str(path),
            "LD_PRELOAD": str(LIBRARIES / "libtandem_locks.so"),
        },
    }


@pytest.mark.parametrize("kind", environments(Path()))
def test_what_programs_write(sticky: Path, open_folder: Path, kind: str) -> None:
    program = open_folder / f"links-{kind}"
    check = ["-ftandem-check-effects=1"] if kind == "checked" else []
    command = [str(BUILD / "bin/tandem-cc"), "-O1", "-pthread", *check, str(PRIVILEGED)]
    subprocess.run([*command, "-o", str(program)], check=True)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TANDEM_", "ITM_"))}
    for name in ("evil", "new", "folder/victim"):
        variables = environments(sticky / "tmp" / name)[kind]
        done = subprocess.run(
            [str(program)],
            env=inherited | variables,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 2
        assert "a link of another user, in a folder where everybody may" in done.stderr
        unharmed(sticky)
    # One's own is followed.
    (sticky / "tmp/own").symlink_to("../victim")
    variables = environments(sticky / "tmp/own")[kind]
    subprocess.run([str(program)], env=inherited | variables, capture_output=True, check=True)
    text = (sticky / "victim").read_text()
    assert text.startswith("of root") if kind == "checked" else json.loads(text)["version"] == 1


def test_fatal_lines_show_control_characters(open_folder: Path) -> None:
    program = open_folder / "fatal"
    command = [str(BUILD / "bin/tandem-cc"), "-pthread", "-ftandem-enforce=stm", str(PRIVILEGED)]
    subprocess.run([*command, "-o", str(program)], check=True)
    done = subprocess.run(
        [str(program)],
        env=os.environ | {"TANDEM_ALGORITHM": "\x1b[2J\u202e\nwrong"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "libitm: error: TANDEM_ALGORITHM=\\x1b[2J\\u202e\\nwrong is not known"
    )
    assert done.stderr.count("\n") == 1
