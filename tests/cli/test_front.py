# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem` itself: which subcommands there are, and how they are found."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import REPOSITORY, Tandem


def add_program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def own(tandem: Tandem, tmp_path: Path) -> tuple[Tandem, Path]:
    """A `tandem` that looks for subcommands in a folder of the user's too."""
    folder = tmp_path / "mine"
    folder.mkdir()
    return tandem.with_environment(PATH=f"{folder}:{os.environ['PATH']}"), folder


@pytest.mark.parametrize("words", [(), ("help",), ("--help",), ("-h",), ("help", "help")])
def test_lists_the_subcommands(tandem: Tandem, words: tuple[str, ...]) -> None:
    text = tandem.output(*words)
    assert text.startswith("tandem: atomic sections for C and C++\n\nUsage: tandem NAME")
    assert re.search(r"^  analyze +what the atomic sections of a program share", text, re.MULTILINE)


def test_every_subcommand_answers_summary_and_help(tandem: Tandem) -> None:
    listing = tandem.output()
    programs = sorted((tandem.build / "libexec").glob("tandem-*"))
    assert programs
    for program in programs:
        name = program.name.removeprefix("tandem-")
        summary = tandem.output(name, "--summary")
        assert summary.count("\n") == 1
        assert len(summary) > 10
        assert re.search(rf"^  {name} +{re.escape(summary)}", listing, re.MULTILINE)
        assert f"sage: tandem {name} " in tandem.output("help", name)


def test_version(tandem: Tandem) -> None:
    declared = re.search(
        r"project\(tandem VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text()
    )
    assert declared
    built = rf"{declared[1]} \((commit [0-9a-f]{{12}}( modified)?, )?LLVM 19\.\d+\.\d+\)\n"
    names = (
        "",
        "analyze",
        "machine",
        "report",
        "rewrite",
        "doctor",
        "experiment",
        "workload",
        "bench",
    )
    said = {
        tandem.output(*name.split(), "--version").replace(f"tandem {name} ", "tandem ", 1)
        for name in names
    }
    said |= {
        tandem.output("workload", name, "--version").replace(f" workload {name} ", " ", 1)
        for name in ("apache", "txlinux")
    }
    assert len(said) == 1, said
    assert re.fullmatch(f"tandem {built}", said.pop())


def test_help_of_a_subcommand_is_its_own(tandem: Tandem) -> None:
    assert tandem.output("help", "analyze") == tandem.output("analyze", "--help")


def test_help_shows_documents(tandem: Tandem) -> None:
    topics = re.findall(r"^  (\S+)  +(\S.*)$", tandem.output("help", "topics"), re.MULTILINE)
    names = [name for name, _ in topics]
    assert {"limits", "analyze", "start/locks", "machine/metatm"} <= set(names)
    assert not [x for x in names if x.startswith("design")]
    for name, title in topics:
        assert tandem.output("help", f"{name}.md").startswith(f"# {title}\n")
    assert tandem.output("help", "metatm") == tandem.output("help", "machine/metatm.md")
    assert tandem.mistake("help", "../README").startswith("tandem: unknown subcommand")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("anaylze",), "unknown subcommand 'anaylze'; did you mean 'analyze'?"),
        (("hlep",), "unknown subcommand 'hlep'; did you mean 'help'?"),
        (("xyzzy",), "unknown subcommand 'xyzzy'; tandem help lists them"),
        (("",), "unknown subcommand ''; tandem help lists them"),
        (("../bin/tandem",), "unknown subcommand '../bin/tandem'; tandem help lists them"),
        (("help", "anaylze"), "unknown subcommand 'anaylze'; did you mean 'analyze'?"),
        (("--vesrion",), "unknown option '--vesrion'; did you mean '--version'?"),
        (("-x",), "unknown option '-x'; see tandem --help"),
        (("cc",), "'cc' is no subcommand; run tandem-cc"),
    ],
)
def test_mistakes(tandem: Tandem, words: tuple[str, ...], message: str) -> None:
    assert tandem.mistake(*words) == f"tandem: {message}"


def test_the_compilers_are_no_subcommands_even_in_path(tandem: Tandem) -> None:
    with_path = tandem.with_environment(PATH=f"{tandem.build / 'bin'}:{os.environ['PATH']}")
    assert "  cc " not in with_path.output()
    assert with_path.mistake("cc") == "tandem: 'cc' is no subcommand; run tandem-cc"


def test_users_add_their_own(own: tuple[Tandem, Path]) -> None:
    tandem, folder = own
    add_program(
        folder,
        "tandem-hello",
        'case $1 in --summary) echo greets;; *) printf "<%s>" "$@"; exit 7;; esac',
    )
    assert re.search(r"Your own, from PATH:\n  hello +greets\n", tandem.output())
    result = tandem.run("hello", "a b", "--help")
    assert (result.returncode, result.stdout, result.stderr) == (7, "<a b><--help>", "")
    assert tandem.mistake("helllo").endswith("did you mean 'hello'?")


def test_those_of_the_installation_win(own: tuple[Tandem, Path]) -> None:
    tandem, folder = own
    add_program(folder, "tandem-analyze", "echo mine")
    assert tandem.output("analyze", "--summary") != "mine\n"
    assert "Your own" not in tandem.output()


def test_a_subcommand_that_does_not_answer_is_listed_by_its_path(
    own: tuple[Tandem, Path],
) -> None:
    tandem, folder = own
    program = add_program(folder, "tandem-fails", "echo nonsense; exit 1")
    (folder / "tandem-not-executable").write_text("")
    (folder / "tandem-folder").mkdir()
    text = tandem.output()
    assert re.search(rf"^  fails +{re.escape(str(program))}$", text, re.MULTILINE)
    assert "not-executable" not in text
    assert "  folder" not in text


def test_a_summary_cannot_write_to_the_terminal(own: tuple[Tandem, Path]) -> None:
    tandem, folder = own
    add_program(folder, "tandem-evil", "printf '\\033[2Jgone\\n'")
    assert r"\x1b[2Jgone" in tandem.output()


def test_is_found_from_where_it_is(tandem: Tandem, tmp_path: Path) -> None:
    """A copy of the tree, called through a link, uses the subcommands of that copy."""
    (tmp_path / "bin").mkdir()
    shutil.copy(tandem.build / "bin" / "tandem", tmp_path / "bin" / "tandem")
    add_program(tmp_path / "libexec", "tandem-only-here", "echo here")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "bin").mkdir()
    (tmp_path / "elsewhere" / "bin" / "tandem").symlink_to(tmp_path / "bin" / "tandem")
    assert Tandem(tmp_path / "elsewhere").output("only-here") == "here\n"


def test_output_that_cannot_be_written_is_a_mistake(tandem: Tandem) -> None:
    result = os.system(f"{tandem.build}/bin/tandem --version > /dev/full 2> /dev/null")
    assert os.waitstatus_to_exitcode(result) == 2
