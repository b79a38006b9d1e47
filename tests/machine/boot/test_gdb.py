# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The debugger's stub, with Debian's gdb-multiarch."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from guests import LIMIT, MACHINE, TIMEOUT_S, command, program


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def debug(guest: Path, options: list[str], commands: list[str]) -> tuple[str, str, int]:
    """What gdb said, what the console showed, the machine's status."""
    return session(guest, command(guest, "--limit", LIMIT, *options), [], commands)


def session(
    symbols: Path, machine_words: list[str], last: list[str], commands: list[str]
) -> tuple[str, str, int]:
    port = free_port()
    with subprocess.Popen(
        [*machine_words, "--gdb", str(port), *last],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as machine:  # fmt: skip
        assert machine.stderr is not None
        first = machine.stderr.readline()
        assert f"waiting for gdb on 127.0.0.1:{port}" in first
        words = [program("gdb-multiarch"), "-nx", "-q", "-batch", str(symbols)]
        for text in ("set pagination off", f"target remote :{port}", *commands):
            words += ["-ex", text]
        try:
            said = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                timeout=TIMEOUT_S,
            )  # fmt: skip
            shown, _ = machine.communicate(timeout=TIMEOUT_S)
        finally:
            machine.kill()
    return said.stdout + said.stderr, shown.replace("\r\n", "\n"), machine.returncode


def test_breakpoints_registers_and_memory(guest: Path) -> None:
    said, shown, status = debug(
        guest,
        ["--harts", "2", "--run", "harts"],
        [
            "break count", "continue", "backtrace", "info threads", "print harts",
            "print/x $pc == &count", "info registers sstatus", "print $priv", "x/2i $pc",
            "set var added = 5", "print added", "set var added = 0", "stepi",
            "print $pc - (long)count", "delete", "break put", "continue", "x/s text",
            "finish", "delete", "continue",
        ],
    )  # fmt: skip
    assert "Breakpoint 1, count ()" in said, said
    assert "all_harts" in said
    assert "hart 1, S-mode" in said
    assert "$1 = 2" in said
    assert "$2 = 0x1" in said
    assert "sstatus" in said
    assert "= 5" in said
    assert '"harts "' in said
    assert "exited normally" in said
    assert (shown, status) == ("harts 2, counted 2000, interrupted 1\n", 0)


def test_steps_of_a_line_and_watched_writes(guest: Path) -> None:
    said, shown, status = debug(
        guest,
        ["--run", "harts"],
        ["break all_harts", "continue", "watch counted", "continue", "continue", "print counted",
         "monitor state", "monitor nothing", "delete", "continue"],
    )  # fmt: skip
    assert "Hardware watchpoint 2: counted" in said, said
    assert "New value = 1" in said
    assert "New value = 2" in said
    assert "hart 0, S-mode, running, pc 0x80" in said
    assert "there is one command: state" in said
    assert (shown, status) == ("harts 1, counted 1000, interrupted 0\n", 0)


def test_threads_are_harts(guest: Path) -> None:
    said, _, status = debug(
        guest,
        ["--harts", "3", "--run", "harts"],
        ["break other", "continue", "thread", "print $sp", "thread 1", "backtrace 1", "thread 2",
         "stepi", "info threads", "delete", "continue"],
    )  # fmt: skip
    assert "hit Breakpoint 1" in said, said
    assert "Current thread is 2" in said
    assert status == 0


def test_a_debugger_that_leaves_lets_it_run(guest: Path) -> None:
    said, shown, status = debug(guest, ["--run", "harts"], ["break put", "continue", "detach"])
    assert "Breakpoint 1, put" in said, said
    assert (shown, status) == ("harts 1, counted 1000, interrupted 0\n", 0)
    said, shown, status = debug(guest, ["--run", "harts"], ["kill"])
    assert (shown, status) == ("", 130)


@pytest.mark.parametrize(("what", "told", "status"), [("7", "code 07", 7), ("256", "code 01", 1)])
def test_the_exit_status_is_told(guest: Path, what: str, told: str, status: int) -> None:
    said, _, ended = debug(guest, ["--run", f"exit {what}"], ["continue", "print $_exitcode"])
    assert f"exited with {told}" in said, said
    assert f"$1 = {status}" in said
    assert ended == status


def test_a_crash_is_where_it_is(guest: Path) -> None:
    """It stops there like a program that gets a signal, and ends with it when it is to go on."""
    said, _, status = debug(
        guest,
        ["--run", "crash"],
        ["continue", "info registers scause stval", "print/x *(char *)&counted", "continue",
         "print $_exitsignal"],
    )  # fmt: skip
    assert "received signal SIGSEGV" in said, said
    assert re.search(r"^stval +0x8\b", said, re.MULTILINE), said
    assert "terminated with signal SIGSEGV" in said
    assert "$2 = 11" in said
    assert status == 3


@pytest.mark.parametrize("last", ["detach", "kill", "monitor state"])
def test_a_crash_is_the_end_however_gdb_leaves(guest: Path, last: str) -> None:
    said, _, status = debug(guest, ["--run", "crash"], ["continue", last])
    assert "received signal SIGSEGV" in said, said
    assert status == 3


def test_a_linux_program_s_threads(tmp_path: Path) -> None:
    source = Path(os.environ["TANDEM_SOURCE"]) / "images/linux/programs/threads.c"
    elf = tmp_path / "threads"
    subprocess.run(
        [
            program("riscv64-linux-gnu-gcc"),
            "-O1",
            "-g",
            "-static",
            "-pthread",
            "-o",
            elf,
            source,
        ],
        check=True,
    )
    said, shown, status = session(
        elf,
        [str(MACHINE), "exec", "--harts", "3", "--limit", LIMIT],
        [str(elf), "2", "10"],
        ["break work", "continue", "print rounds", "print self", "backtrace", "delete",
         "watch locked", "continue", "delete", "continue"],
    )  # fmt: skip
    assert "Breakpoint 1, work" in said, said
    assert "$1 = 10" in said
    assert "start_thread" in said
    assert "New value = 1" in said
    assert (shown, status) == ("20 30\n", 0)


@pytest.mark.parametrize(
    ("how", "told", "status"),
    [
        (["status", "9"], ["exited with code 011"], 9),  # gdb says it in octal
        (["null"], ["received signal SIGSEGV", "touches_nothing", "terminated with signal SIGSEGV"],
         3),
        (["illegal"], ["received signal SIGILL", "terminated with signal SIGILL"], 3),
        (["abort"], ["received signal SIGABRT", "terminated with signal SIGABRT"], 3),
        (["misaligned"], ["received signal SIGBUS", "terminated with signal SIGBUS"], 3),
    ],
)  # fmt: skip
def test_how_a_linux_program_ended(
    ends: Path, how: list[str], told: list[str], status: int
) -> None:
    said, _, ended = session(
        ends, [str(MACHINE), "exec", "--limit", LIMIT], [str(ends), *how],
        ["continue", "backtrace", "continue"],
    )  # fmt: skip
    for text in told:
        assert text in said, said
    assert ended == status


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(os.environ["TANDEM_SOURCE"]) / "tests/machine/exec/programs/ends.c"
    elf = tmp_path_factory.mktemp("ends") / "ends"
    subprocess.run(
        [
            program("riscv64-linux-gnu-gcc"),
            "-O1",
            "-g",
            "-static",
            "-pthread",
            "-o",
            elf,
            source,
        ],
        check=True,
    )
    return elf
