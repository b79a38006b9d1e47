# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An internal error: one line with what was being done, a file that repeats it, status 70.

TANDEM_PROVOKE=PLACE:WHAT provokes one (src/compiler/internal_error). LLVM's own report, which asks
for a report to LLVM, never appears.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import Compilers

PROGRAM = """\
#include <tandem/tandem.h>
static long x;
__attribute__((atomic)) static void step(long k) { x += k; }
int main(void) { step(1); tandem_atomic { x++; } return x != 2; }
"""
# Where, and what the line says of it.
COMPILING = {
    "attribute": "checking the mark of 'step' (main.c:3)",
    "blocks": "rewriting the atomic blocks of 'main' (main.c:4)",
}
LINKING = {
    "analyse": "analysing the program",
    "enforce": "enforcing section 'step' (main.c:3)",
    "behind": "LLVM's passes and code generator ran over what Tandem had built",
}
WHAT = {
    "segv": "segmentation fault",
    "overflow": "segmentation fault",
    "check": "does not hold: provoked in two lines",
    "fatal": "provoked",
    "abort": "abort",
    "exception": "an exception was not caught: provoked",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "reports").mkdir()
    return tmp_path


def fail(compilers: Compilers, folder: Path, provoked: str, *words: str) -> tuple[str, Path]:
    """The line, and the file that it names."""
    reports = folder / "reports"
    before = sorted(folder.glob("*"))
    provoking = compilers.with_environment(TANDEM_PROVOKE=provoked, TMPDIR=str(reports))
    result = provoking.cc(*words, folder=folder, check=False)
    assert result.returncode == 70, result.stderr
    assert "PLEASE" not in result.stderr
    assert "llvm-project" not in result.stderr
    assert sorted(folder.glob("*")) == before
    # clang adds that the linker failed, as it does for every reason.
    lines = [line for line in result.stderr.splitlines() if "linker command failed" not in line]
    assert len(lines) == 1, result.stderr
    found = re.fullmatch(
        r"(tandem-cc: internal error: .*); this is .* report it with (\S+)", lines[0]
    )
    assert found is not None, lines[0]
    assert Path(found[2]).parent == reports
    return found[1], Path(found[2])


def repeat(report: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
    return subprocess.run(
        ["sh", str(report)],
        capture_output=True,
        text=True,
        env={**environment, "TMPDIR": str(report.parent), **variables},
        check=False,
    )


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("place", COMPILING)
def test_compile_step(compilers: Compilers, folder: Path, place: str, what: str) -> None:
    # Alone, clang compiles in its own process; before a link in another one.
    for words in (("-c", "main.c"), ("main.c", "-o", "program")):
        line, report = fail(compilers, folder, f"{place}:{what}", *words)
        assert WHAT[what] in line
        assert line.endswith(COMPILING[place])
        assert "main.c" in report.read_text()


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("place", LINKING)
def test_link_step(compilers: Compilers, folder: Path, place: str, what: str) -> None:
    compilers.cc("-c", "main.c", folder=folder)
    line, report = fail(compilers, folder, f"{place}:{what}", "main.o", "-o", "program")
    assert WHAT[what] in line
    assert line.endswith(LINKING[place])
    # The object may go: the report has the program.
    (folder / "main.o").unlink()
    again = repeat(report)
    assert again.returncode == 70, again.stderr
    assert WHAT[what] in again.stderr


def test_wrong_code(compilers: Compilers, folder: Path) -> None:
    line, _ = fail(compilers, folder, "enforce:verifier", "main.c", "-o", "program")
    assert "enforcement hybrid built wrong code" in line


def test_the_report_ends_well_where_the_fault_is_gone(compilers: Compilers, folder: Path) -> None:
    _, report = fail(compilers, folder, "enforce:segv", "main.c", "-o", "program")
    text = report.read_text()
    assert "export TANDEM_PROVOKE='enforce:segv'\n" in text
    report.write_text(text.replace("export TANDEM_PROVOKE='enforce:segv'\n", ""))
    again = repeat(report)
    assert (again.returncode, again.stderr) == (0, "")


def test_no_place_for_a_report(compilers: Compilers, folder: Path) -> None:
    compilers.cc("-c", "main.c", folder=folder)
    provoking = compilers.with_environment(TANDEM_PROVOKE="enforce:segv", TMPDIR="/proc/none")
    result = provoking.cc("main.o", "-o", "program", folder=folder, check=False)
    assert result.returncode == 70
    assert "PLEASE" not in result.stderr
    assert "no file that repeats it could be written to TMPDIR" in result.stderr


def test_reports_overwrite_nothing(compilers: Compilers, folder: Path) -> None:
    """A report's name that is taken, even by a link into nowhere, is left alone."""
    first = fail(compilers, folder, "enforce:segv", "main.c", "-o", "program")[1]
    second = fail(compilers, folder, "enforce:segv", "main.c", "-o", "program")[1]
    assert first != second
    assert os.stat(first).st_mode & 0o777 == 0o700


def test_without_the_driver(compilers: Compilers, folder: Path) -> None:
    """opt, which tandem-cc does not start, ends with 70 itself."""
    plugin = compilers.folder.parent / "lib/tandem/TandemPass.so"
    (folder / "empty.ll").write_text("define i32 @main() {\n  ret i32 0\n}\n")
    result = compilers.with_environment(
        TANDEM_PROVOKE="analyse:check", TMPDIR=str(folder / "reports")
    ).run(
        [
            os.environ.get("TANDEM_LLVM_BIN", "/usr/lib/llvm-19/bin") + "/opt",
            f"-load-pass-plugin={plugin}",
            "-passes=tandem",
            "-disable-output",
            "empty.ll",
        ],
        folder,
        check=False,
    )
    assert result.returncode == 70
    assert result.stderr.count("\n") == 1
    assert "does not hold" in result.stderr


def test_errors_of_clang_stay_clangs(compilers: Compilers, folder: Path) -> None:
    """A crash of clang's own, outside of our plugin's turn, is reported as clang does."""
    (folder / "crash.c").write_text("#pragma clang __debug crash\nint x;\n")
    result = compilers.cc("-c", "crash.c", folder=folder, check=False)
    assert result.returncode not in (0, 70)
    assert "internal error" not in result.stderr
