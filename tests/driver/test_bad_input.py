# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mistake of the user: one line with place and remedy, exit status 2, nothing half-written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import Compilers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    return tmp_path


def mistake(compilers: Compilers, folder: Path, *words: str) -> str:
    """The one line that the compiler prints; the folder stays as it was."""
    before = sorted(folder.rglob("*"))
    result = compilers.cc(*words, folder=folder, check=False)
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("tandem-cc: ")
    assert sorted(folder.rglob("*")) == before
    return result.stderr.removeprefix("tandem-cc: ").rstrip("\n")


@pytest.mark.parametrize("step", [("-c",), ()], ids=["compile", "link"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("-ftandem-enforce=tm",),
            "-ftandem-enforce: 'tm' is not an enforcement; "
            "use none, global-lock, locks, stm, hybrid or htm",
        ),
        (
            ("-ftandem-points-to=deep",),
            "-ftandem-points-to: 'deep' is not a points-to mode; use sensitive or insensitive",
        ),
        (
            ("-ftandem-reports=x",),
            "'-ftandem-reports=x' is not an option; use -ftandem-enforce=, -ftandem-report=, "
            "-ftandem-catalogue=, -ftandem-convert=, -ftandem-points-to=, "
            "-ftandem-inline-barriers=, -ftandem-short-sections=, -ftandem-check-effects= or "
            "-ftandem-verbose=",
        ),
        (
            ("-flto=thin",),
            "-flto=thin: thin LTO never shows the linker the whole program; "
            "use full LTO (-flto=full), or drop the option",
        ),
        (
            ("-ftandem-catalogue=absent.toml",),
            "absent.toml: cannot be read: No such file or directory",
        ),
        (
            ("-o", "absent/out"),
            "absent/out: cannot be written: No such file or directory; choose another -o",
        ),
    ],
    ids=["enforce", "points-to", "unknown", "thin", "catalogue", "output"],
)
def test_wrong_option(
    compilers: Compilers, folder: Path, step: tuple[str, ...], words: tuple[str, ...], message: str
) -> None:
    assert mistake(compilers, folder, *step, "main.c", *words) == message


def test_wrong_variable(compilers: Compilers, folder: Path) -> None:
    wrong = compilers.with_environment(TANDEM_ENFORCE="sometimes")
    assert mistake(wrong, folder, "main.c").startswith("TANDEM_ENFORCE: 'sometimes' is not ")


def test_catalogue_with_a_syntax_error(compilers: Compilers, folder: Path) -> None:
    (folder / "mine.toml").write_text('version = 1\n[functions]\npure = ["f", = ]\n')
    for step in (("-c",), ()):
        message = mistake(
            compilers, folder, *step, "main.c", "-ftandem-catalogue=mine.toml", "-o", "out"
        )
        assert message.startswith("mine.toml:3:14: ")


def test_catalogue_with_an_unknown_effect(compilers: Compilers, folder: Path) -> None:
    (folder / "mine.toml").write_text('version = 1\n[functions]\nharmless = ["f"]\n')
    message = mistake(compilers, folder, "main.c", "-ftandem-catalogue=mine.toml")
    assert message == (
        "mine.toml:3:1: 'harmless' is not an effect; "
        "use unsafe, pure, thread-local, reads, tm-safe, deferrable or irrevocable"
    )


def test_report_that_cannot_be_written(compilers: Compilers, folder: Path) -> None:
    assert mistake(compilers, folder, "main.c", "-ftandem-report=absent/%o.json") == (
        "absent/a.out.json: cannot be written: No such file or directory; "
        "choose another -ftandem-report"
    )
    compiling = mistake(
        compilers, folder, "-c", "main.c", f"-ftandem-report={folder}/absent/%o.json"
    )
    assert compiling.endswith("No such file or directory; choose another -ftandem-report")


def test_report_pattern_without_meaning(compilers: Compilers, folder: Path) -> None:
    message = mistake(compilers, folder, "main.c", "-ftandem-report=%q.json")
    assert message.startswith("-ftandem-report: ")


def test_another_linker(compilers: Compilers, folder: Path) -> None:
    assert mistake(compilers, folder, "main.c", "-fuse-ld=gold") == (
        "-fuse-ld=gold: this linker cannot see the whole program; use lld, or drop the option"
    )


def test_missing_lld(compilers: Compilers, folder: Path) -> None:
    llvm = folder / "llvm"
    llvm.mkdir()
    clang = shutil.which("clang-19") or "/usr/lib/llvm-19/bin/clang"
    (llvm / "clang").symlink_to(clang)
    compilers = compilers.with_environment(TANDEM_LLVM_BIN=str(llvm))
    assert mistake(compilers, folder, "main.c", "-o", "out") == (
        f"{llvm}/ld.lld: not found; install lld-19, or let TANDEM_LLVM_BIN name a folder that "
        "has it"
    )
    compilers.cc("-c", "main.c", folder=folder)


def test_missing_clang(compilers: Compilers, folder: Path) -> None:
    compilers = compilers.with_environment(TANDEM_LLVM_BIN=str(folder))
    assert mistake(compilers, folder, "-c", "main.c") == (
        f"{folder}/clang: not found; install clang-19, or let TANDEM_LLVM_BIN name a folder that "
        "has it"
    )


def test_relocatable_link_of_both_kinds(compilers: Compilers, folder: Path) -> None:
    (folder / "code.s").write_text(".globl f\nf: ret\n")
    compilers.cc("-c", "main.c", "code.s", folder=folder)
    message = mistake(compilers, folder, "-r", "main.o", "code.o", "-o", "both.o")
    assert message.startswith("-r: bitcode together with machine code")


def test_what_clang_refuses_is_clangs_to_say(compilers: Compilers, folder: Path) -> None:
    (folder / "wrong.c").write_text("int main(void) { return }\n")
    result = compilers.cc("wrong.c", "-o", "out", folder=folder, check=False)
    assert result.returncode == 1
    assert "wrong.c:1:25: error: expected expression" in result.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize("step", ["compile", "link"])
def test_an_output_beyond_the_limit_of_files(compilers: Compilers, folder: Path, step: str) -> None:
    """A line, no dump of LLVM's, and nothing half-written."""
    given = "main.c"
    if step == "link":
        compilers.cc("-c", "main.c", folder=folder)
        given = "main.o"
    before = sorted(folder.rglob("*"))
    words = ["-c"] if step == "compile" else []
    limited = ["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', compilers.tool("cc"), *words, given]
    result = compilers.run(limited, folder, check=False)
    assert result.returncode == 1, result.stderr
    first, *rest = result.stderr.splitlines()
    assert first == "tandem-cc: an output cannot be written: file too large (ulimit -f)"
    assert all(x.startswith("clang: error: linker command failed") for x in rest), rest
    assert sorted(folder.rglob("*")) == before
